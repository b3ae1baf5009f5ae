-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.calls_waiting(p_providers text[])
 RETURNS livewell.endpoint_calls[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_calls livewell.endpoint_calls[];
    v_theirs livewell.endpoint_calls[];
    v_function text;
begin
    for v_function in select c.waiting from livewell.caller as c loop
        execute format('select livewell.%I($1)', v_function) into v_theirs using p_providers;
        v_calls := v_calls || v_theirs;
    end loop;
    return v_calls;
end $function$;
