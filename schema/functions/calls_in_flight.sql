-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.calls_in_flight(p_providers text[], p_now timestamp with time zone)
 RETURNS livewell.endpoint_calls[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_calls livewell.endpoint_calls[] := livewell.permits_in_flight(p_providers, p_now);
    v_theirs livewell.endpoint_calls[];
    v_function text;
begin
    for v_function in select c.in_flight from livewell.caller as c loop
        execute format('select livewell.%I($1)', v_function) into v_theirs using p_providers;
        v_calls := v_calls || v_theirs;
    end loop;
    return v_calls;
end $function$;
