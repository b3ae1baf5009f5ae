-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.reset_setting(p_name text, p_actor text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    return livewell.set_setting(
        p_name, (select s.default_value from livewell.setting s where s.name = p_name), p_actor, p_reason, p_now);
end
$function$;

grant execute on function livewell.reset_setting(text,text,text,timestamp with time zone) to livewell_service;
