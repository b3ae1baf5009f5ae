-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_write(p_entries jsonb, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_xid xid8;
begin
    perform livewell.require_primary();
    perform livewell.check_audit_entries(p_entries);
    v_xid := pg_current_xact_id();
    return query
    insert into livewell.audit_entry (
        at, xid, event, table_name, record_id, operation, old, new, reason, actor, subject, job_id, detail, login)
    select
        p_now, v_xid, e.event, e.table_name, e.record_id, e.operation, e.old, e.new, e.reason,
        coalesce(nullif(e.actor, ''), session_user), e.subject, e.job_id, e.detail, session_user
    from jsonb_to_recordset(p_entries) as e (
        event text, table_name text, record_id text, operation text, old jsonb, new jsonb,
        reason text, actor text, subject text, job_id bigint, detail jsonb)
    returning id;
end
$function$;

grant execute on function livewell.audit_write(jsonb,timestamp with time zone) to livewell_service;
