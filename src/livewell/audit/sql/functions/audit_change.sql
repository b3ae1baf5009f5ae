-- Records one change of a row that a person or a program asked for, with what it was and what it is.
-- for: internal
create or replace function livewell_private.audit_change(
    p_event text, p_table_name text, p_record_id text, p_old jsonb, p_new jsonb, p_reason text, p_actor text, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', p_event, 'table_name', p_table_name, 'record_id', p_record_id, 'operation', case
            when p_old is null and p_new is not null then 'insert'
            when p_old is not null and p_new is null then 'delete'
            else 'update'
        end,
        'old', p_old, 'new', p_new, 'reason', p_reason, 'actor', p_actor
    )), p_now);
end $$;
