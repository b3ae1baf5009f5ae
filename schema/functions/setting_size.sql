-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.setting_size(p_type text, p_value text)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_type in ('integer', 'number') then p_value::numeric
        when p_type = 'duration' then extract(epoch from p_value::interval)
    end
$function$;
