-- Adds an access key, of which only the hash comes here. Only the owner may.
-- for: owner
create or replace function livewell.add_access_key(
    p_id text, p_name text, p_hash bytea, p_scopes text[], p_user text default null, p_tenant text default null,
    p_expires_at timestamptz default null, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if p_expires_at <= p_now then
        raise exception using errcode = 'LWC05', message = 'the access key would have expired already', hint = 'a later time, or none';
    end if;
    if p_user ~ livewell_private.strange_characters() or p_tenant ~ livewell_private.strange_characters()
        or p_name ~ livewell_private.strange_characters() or livewell_private.is_anonymous(p_user)
    then
        raise exception using errcode = 'LWC05', message = 'name, user and tenant are of visible characters, and a user of a key is not anonymous',
            hint = 'nothing was added';
    end if;
    insert into livewell_private.access_key (id, name, hash, scopes, user_id, tenant, expires_at, created_at, created_by)
    values (p_id, p_name, p_hash, p_scopes, p_user, p_tenant, p_expires_at, p_now, p_actor);
    perform livewell_private.audit_change('access_key_added', 'access_key', p_id, null, jsonb_build_object(
        'name', p_name, 'scopes', p_scopes, 'user', p_user, 'tenant', p_tenant, 'expires_at', p_expires_at
    ), p_reason, p_actor, p_now);
exception
    when check_violation or not_null_violation then
        raise exception using errcode = 'LWC05', message = format('the access key cannot be so: %s', sqlerrm),
            hint = 'scopes are service, operator, observer and user; one for a user names the user';
    when unique_violation then
        raise exception using errcode = 'LWC05', message = 'there is such an access key already', hint = 'make another';
end $$;
