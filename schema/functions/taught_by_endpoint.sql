-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.taught_by_endpoint(p_use livewell.limit_use)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select jsonb_strip_nulls(to_jsonb(p_use) - array[
        'name', 'minute_slot', 'minute_requests', 'minute_tokens', 'hour_slot', 'hour_requests', 'hour_tokens', 'smooth_at',
        'next_allowed_at', 'failure_slot', 'failures', 'observed_at', 'grown_at'
    ])
$function$;
