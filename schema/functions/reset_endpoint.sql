-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.reset_endpoint(p_name text, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_old livewell.limit_use;
    v_new livewell.limit_use;
begin
    perform livewell.require_primary();
    v_old := livewell.lock_limit(p_name);
    update livewell.limit_use as u set
        closed_until = '-infinity', closed_reason = null, throttles = 0, learned_per_minute = null,
        learned_per_hour = null, learned_tokens_per_minute = null, learned_tokens_per_hour = null, remaining = null, remaining_since = null, remaining_until = null,
        breaker = 'closed', breaker_until = null, breaker_openings = 0, breaker_passed = 0,
        failures = array_fill(0, array[cardinality(u.failures)])
    where u.name = p_name
    returning u.* into v_new;
    perform livewell.reopen_limits(array[p_name]);
    perform livewell.audit_change(
        'endpoint_reset', 'endpoint', p_name, livewell.taught_by_endpoint(v_old), livewell.taught_by_endpoint(v_new), p_reason, p_actor, p_now
    );
end $function$;

grant execute on function livewell.reset_endpoint(text,text,text,timestamp with time zone) to livewell_service;
