-- Takes back what was shared with a user, at once; false when nothing was. Its owner may, the service, and the user itself, who leaves.
-- for: service, user
create or replace function livewell.unshare(p_subject text, p_user text, p_now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_by constant text := coalesce(livewell_private.claimed_user(), session_user);
    v_old text;
begin
    perform livewell_private.require_primary();
    if livewell_private.is_service(livewell_private.calling_role()) or livewell_private.claimed_user() is distinct from p_user then
        perform livewell_private.require_own_subject(p_subject);
    end if;
    delete from livewell_private.share as h where h.subject = p_subject and h.user_id = p_user returning h.rights into v_old;
    if v_old is null then
        return false;
    end if;
    perform livewell_private.audit_change(
        'subject_unshared', 'share', p_subject, jsonb_build_object('user', p_user, 'rights', v_old), null, null, v_by, p_now
    );
    perform livewell_private.tell_rights(jsonb_build_object('user', p_user));
    return true;
end $$;
