-- Takes a subject away, and with it all that was shared of it. Its owner may, and the service.
-- for: service, user
create or replace function livewell.remove_subject(p_subject text, p_now timestamptz default clock_timestamp()) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_old jsonb;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_own_subject(p_subject);
    delete from livewell_private.subject as s where s.id = p_subject
    returning jsonb_build_object('kind', s.kind, 'owner', s.owner, 'tenant', s.tenant) into v_old;
    perform livewell_private.audit_change(
        'subject_removed', 'subject', p_subject, v_old, null, null, coalesce(livewell_private.claimed_user(), session_user), p_now
    );
    perform livewell_private.tell_rights('{}');
end $$;
