-- Records a change of a task with what it was and what it is.
-- for: internal
create or replace function livewell_private.audit_task_change(
    p_event text, p_task text, p_old jsonb, p_new jsonb, p_reason text, p_actor text, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', p_event, 'table_name', 'task', 'record_id', p_task,
        'operation', case when p_old is null and p_new is not null then 'insert' else 'update' end,
        'old', p_old, 'new', p_new, 'reason', p_reason, 'actor', p_actor
    )), p_now);
end $$;
