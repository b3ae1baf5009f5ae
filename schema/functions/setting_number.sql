-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.setting_number(p_name text)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_value numeric;
begin
    select s.value::numeric into v_value from livewell.setting s where s.name = p_name and s.type = 'number';
    if not found then
        perform livewell.refuse_unknown_setting(p_name, 'number');
    end if;
    return v_value;
end
$function$;

grant execute on function livewell.setting_number(text) to livewell_service;
