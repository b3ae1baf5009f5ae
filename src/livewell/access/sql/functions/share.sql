-- Shares a subject with a user, to read or to write; false when it was so already. Only its owner may, and the service.
-- for: service, user
create or replace function livewell.share(
    p_subject text, p_user text, p_right text default 'read', p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_by constant text := coalesce(livewell_private.claimed_user(), session_user);
    v_old text;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_own_subject(p_subject);
    if p_user ~ livewell_private.strange_characters() then
        raise exception using errcode = 'LWC03', message = 'a user is named by visible characters', hint = 'nothing was shared';
    end if;
    select h.rights into v_old from livewell_private.share as h where h.subject = p_subject and h.user_id = p_user for update;
    if v_old = p_right then
        return false;
    end if;
    insert into livewell_private.share as h (subject, user_id, rights, shared_by, since) values (p_subject, p_user, p_right, v_by, p_now)
    on conflict (subject, user_id) do update set rights = excluded.rights, shared_by = excluded.shared_by, since = excluded.since;
    perform livewell_private.audit_change(
        'subject_shared', 'share', p_subject, case when v_old is not null then jsonb_build_object('user', p_user, 'rights', v_old) end,
        jsonb_build_object('user', p_user, 'rights', p_right), null, v_by, p_now
    );
    perform livewell_private.tell_rights(jsonb_build_object('user', p_user));
    return true;
exception
    when check_violation or not_null_violation then
        raise exception using errcode = 'LWC03', message = format('it cannot be shared so: %s', sqlerrm), hint = 'with a user, to read or to write';
end $$;
