-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.headroom_now(p_names text[], p_providers text[], p_in_flight livewell.endpoint_calls[], p_now timestamp with time zone)
 RETURNS livewell.headroom
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_headroom livewell.headroom;
begin
    v_headroom.limits := livewell.limits_now(p_names, p_in_flight, p_now);
    v_headroom.has_keys := array_to_string(p_names, ' ') like '%@%';
    v_headroom.quotas := livewell.quotas_now(p_providers, p_in_flight, p_now);
    return v_headroom;
end $function$;
