-- Why an endpoint cannot be so, in words that name the field; null when it can.
-- for: internal
create or replace function livewell_private.endpoint_problem(p_endpoint livewell_private.endpoint) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select coalesce(livewell_private.limits_problem(
        (p_endpoint).requests_per_minute, (p_endpoint).requests_per_hour, (p_endpoint).tokens_per_minute,
        (p_endpoint).tokens_per_hour, (p_endpoint).concurrent
    ), case
        when (p_endpoint).name !~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'
            then 'its name must be PROVIDER or PROVIDER/NAME, without space and @'
        when (p_endpoint).state is null or (p_endpoint).state not in ('active', 'disabled', 'maintenance')
            then 'state must be active, disabled or maintenance'
        when (p_endpoint).limiter not in ('strict', 'smooth') then 'limiter must be strict or smooth'
        when not ((p_endpoint).send_within > interval '0' and (p_endpoint).send_within <= interval '10 seconds')
            then 'send_within must be above 0, at most 10 seconds'
        when not ((p_endpoint).backpressure_share > 0 and (p_endpoint).backpressure_share < 'infinity')
            then 'backpressure_share must be above 0'
        when not ((p_endpoint).backpressure_delay >= interval '0' and isfinite((p_endpoint).backpressure_delay))
            then 'backpressure_delay must not be negative'
        when (p_endpoint).depth_limit <= 0 then 'depth_limit must be above 0, or unlimited'
        when (p_endpoint).expected_bytes <= 0 then 'expected_bytes must be above 0'
        when (p_endpoint).max_bytes < (p_endpoint).expected_bytes then 'max_bytes must be at least expected_bytes'
        when (p_endpoint).max_tokens <= 0 then 'max_tokens must be above 0, or unlimited'
        when (p_endpoint).retry_after <= interval '0' then 'retry_after must be above 0'
        when not ((p_endpoint).retry_after_max >= (p_endpoint).retry_after and isfinite((p_endpoint).retry_after_max))
            then 'retry_after_max must be at least retry_after'
        when (p_endpoint).breaker_failures <= 0 then 'breaker_failures must be above 0, or off'
        when not ((p_endpoint).breaker_window > interval '0' and isfinite((p_endpoint).breaker_window))
            then 'breaker_window must be above 0'
        when (p_endpoint).breaker_cooldown <= interval '0' then 'breaker_cooldown must be above 0'
        when not (
            (p_endpoint).breaker_cooldown_max >= (p_endpoint).breaker_cooldown and isfinite((p_endpoint).breaker_cooldown_max)
        ) then 'breaker_cooldown_max must be at least breaker_cooldown'
        when (p_endpoint).breaker_trials <= 0 then 'breaker_trials must be above 0'
        when not ((p_endpoint).call_timeout > interval '0' and (p_endpoint).call_timeout <= interval '10 minutes')
            then 'call_timeout must be above 0, at most 10 minutes'
    end)
$$;
