-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.asked_again_in(p_result jsonb)
 RETURNS interval
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if jsonb_typeof(p_result) is distinct from 'object' or p_result ->> 'again_in' is null then
        return null;
    end if;
    return greatest((p_result ->> 'again_in')::interval, interval '0');
exception when data_exception then
    return null;
end $function$;
