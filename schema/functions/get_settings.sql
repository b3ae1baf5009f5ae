-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.get_settings()
 RETURNS TABLE(name text, type text, value text, duration interval, sensitive boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select s.name, s.type, s.value, case when s.type = 'duration' then s.value::interval end, s.sensitive
    from livewell.setting s
    order by s.name
$function$;

grant execute on function livewell.get_settings() to livewell_service;
