-- Revokes an access key, at once and for good; false when it was revoked before. Whoever shows data for it is told.
-- for: owner
create or replace function livewell.revoke_access_key(
    p_id text, p_reason text default null, p_actor text default session_user, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if not exists (select from livewell_private.access_key as k where k.id = p_id) then
        raise exception using errcode = 'LWC06', message = format('there is no access key %s', coalesce(quote_ident(left(p_id, 100)), 'without an id')),
            hint = 'livewell access keys';
    end if;
    update livewell_private.access_key as k set revoked_at = p_now where k.id = p_id and k.revoked_at is null;
    if not found then
        return false;
    end if;
    perform livewell_private.audit_change(
        'access_key_revoked', 'access_key', p_id, '{"revoked": false}', '{"revoked": true}', p_reason, p_actor, p_now
    );
    perform livewell_private.tell_rights(jsonb_build_object('access_key', p_id));
    return true;
end $$;
