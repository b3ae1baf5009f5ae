-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.setting_interval(p_name text)
 RETURNS interval
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_value interval;
begin
    select s.value::interval into v_value from livewell.setting s where s.name = p_name and s.type = 'duration';
    if not found then
        perform livewell.refuse_unknown_setting(p_name, 'duration');
    end if;
    return v_value;
end
$function$;

grant execute on function livewell.setting_interval(text) to livewell_service;
