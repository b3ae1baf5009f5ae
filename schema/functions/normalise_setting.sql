-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.normalise_setting(p_type text, p_value text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "IntervalStyle" TO 'postgres'
AS $function$
begin
    return case
        when p_type = 'boolean' then p_value::boolean::text
        when p_type = 'integer' then p_value::bigint::text
        when p_type = 'number' and abs(p_value::numeric) < 'infinity' then trim_scale(p_value::numeric)::text
        when p_type = 'duration' and p_value !~ '^[\s\d.+-]*$' and extract(epoch from p_value::interval) < 'infinity'
            then p_value::interval::text
        when p_type = 'json' then p_value::jsonb::text
        when p_type = 'text' then p_value
    end;
exception when data_exception then
    return null;
end
$function$;
