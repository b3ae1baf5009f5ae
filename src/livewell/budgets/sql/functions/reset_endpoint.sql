-- Forgets what an endpoint (or an account, or a scope of keys) taught: learned limits, throttles, closings, failures; its breaker is closed. What was sent
-- stays counted, and answers older than the newest seen teach nothing.
-- for: service
create or replace function livewell.reset_endpoint(
    p_name text, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old livewell_private.limit_use;
    v_new livewell_private.limit_use;
begin
    perform livewell_private.require_primary();
    v_old := livewell_private.lock_limit(p_name);
    update livewell_private.limit_use as u set
        closed_until = '-infinity', closed_reason = null, throttles = 0, learned_per_minute = null,
        learned_per_hour = null, learned_tokens_per_minute = null, learned_tokens_per_hour = null, remaining = null, remaining_since = null, remaining_until = null,
        breaker = 'closed', breaker_until = null, breaker_openings = 0, breaker_passed = 0,
        failures = array_fill(0, array[cardinality(u.failures)])
    where u.name = p_name
    returning u.* into v_new;
    perform livewell_private.reopen_limits(array[p_name]);
    perform livewell_private.audit_change(
        'endpoint_reset', 'endpoint', p_name, livewell_private.taught_by_endpoint(v_old), livewell_private.taught_by_endpoint(v_new), p_reason, p_actor, p_now
    );
end $$;
