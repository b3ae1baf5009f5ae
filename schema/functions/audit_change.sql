-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_change(p_event text, p_table_name text, p_record_id text, p_old jsonb, p_new jsonb, p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', p_event, 'table_name', p_table_name, 'record_id', p_record_id, 'operation', case
            when p_old is null and p_new is not null then 'insert'
            when p_old is not null and p_new is null then 'delete'
            else 'update'
        end,
        'old', p_old, 'new', p_new, 'reason', p_reason, 'actor', p_actor
    )), p_now);
end $function$;
