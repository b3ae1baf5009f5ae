-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.same_budget_value(p_field text, p_old jsonb, p_new jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_field in (
            'quota_window', 'pace_bucket', 'send_within', 'backpressure_delay', 'retry_after', 'retry_after_max',
            'breaker_window', 'breaker_cooldown', 'breaker_cooldown_max', 'call_timeout'
        ) then (p_old #>> '{}')::interval is not distinct from (p_new #>> '{}')::interval
        else p_old is not distinct from p_new
    end
$function$;
