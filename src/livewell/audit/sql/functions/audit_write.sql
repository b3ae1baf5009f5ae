-- Appends a batch of entries, a JSON array of objects with the columns of audit_entry as keys; answers their ids in order.
-- Who wrote is the login of the session, whatever actor an entry names.
-- The transaction id is taken before any entry id is drawn: the sealer relies on that to know which ids can still appear.
-- for: service
create or replace function livewell.audit_write(
    p_entries jsonb, p_now timestamptz default clock_timestamp()
) returns setof bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_xid xid8;
begin
    perform livewell_private.require_primary();
    perform livewell_private.check_audit_entries(p_entries);
    v_xid := pg_current_xact_id();
    return query
    insert into livewell_private.audit_entry (
        at, xid, event, table_name, record_id, operation, old, new, reason, actor, subject, job_id, detail, login)
    select
        p_now, v_xid, e.event, e.table_name, e.record_id, e.operation, e.old, e.new, e.reason,
        coalesce(nullif(e.actor, ''), session_user), e.subject, e.job_id, e.detail, session_user
    from jsonb_to_recordset(p_entries) as e (
        event text, table_name text, record_id text, operation text, old jsonb, new jsonb,
        reason text, actor text, subject text, job_id bigint, detail jsonb)
    returning id;
end
$$;
