-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.set_task(p_name text, p_changes jsonb, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    if not exists (select from livewell.task as t where t.name = p_name) then
        perform livewell.refuse_unknown_task(p_name);
    end if;
    return (livewell.put_task(p_name, p_changes, false, p_reason, p_actor, p_now)).change <> 'same';
end $function$;

grant execute on function livewell.set_task(text,jsonb,text,text,timestamp with time zone) to livewell_service;
