-- The fields of a provider, an endpoint or a key that a person may set, each with what it is when nobody has set it.
-- for: internal
create or replace function livewell_private.budget_defaults(p_thing text) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case p_thing
        when 'provider' then jsonb_build_object(
            'state', 'active', 'description', '', 'base_url', null, 'quota_bytes', null, 'quota_window', '30 days',
            'quota_use', 0.95, 'pace', 'even', 'pace_bucket', '01:00:00', 'policy', null, 'hosts', jsonb '[]',
            'key_in', null, 'allow_private', false
        )
        when 'endpoint' then jsonb_build_object(
            'state', 'active', 'description', '', 'requests_per_minute', 60, 'requests_per_hour', null,
            'tokens_per_minute', null, 'tokens_per_hour', null, 'concurrent', 10, 'limiter', 'strict',
            'send_within', '00:00:02', 'backpressure_share', 0.8, 'backpressure_delay', '00:00:05', 'depth_limit', 1000,
            'serial_keys', true, 'expected_bytes', 50000, 'max_bytes', 10485760, 'max_tokens', null,
            'retry_after', '00:01:00', 'retry_after_max', '01:00:00', 'breaker_failures', 10,
            'breaker_window', '00:10:00', 'breaker_cooldown', '00:01:00', 'breaker_cooldown_max', '00:30:00',
            'breaker_trials', 3, 'call_timeout', '00:00:10'
        )
        when 'key' then jsonb_build_object(
            'scope', null, 'source', null, 'enabled', true, 'requests_per_minute', null, 'requests_per_hour', null,
            'tokens_per_minute', null, 'tokens_per_hour', null, 'concurrent', null
        )
    end
$$;
