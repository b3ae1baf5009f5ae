-- Writes endpoints as they shall be, with the row that counts what is used of each.
-- for: internal
create or replace function livewell_private.put_endpoints(p_endpoints livewell_private.endpoint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.endpoint as t
    select n.* from unnest(p_endpoints) as n
    order by n.name
    on conflict (name) do update set
        state = excluded.state, description = excluded.description,
        requests_per_minute = excluded.requests_per_minute, requests_per_hour = excluded.requests_per_hour,
        tokens_per_minute = excluded.tokens_per_minute, tokens_per_hour = excluded.tokens_per_hour,
        concurrent = excluded.concurrent, limiter = excluded.limiter, send_within = excluded.send_within,
        backpressure_share = excluded.backpressure_share, backpressure_delay = excluded.backpressure_delay,
        depth_limit = excluded.depth_limit, serial_keys = excluded.serial_keys,
        expected_bytes = excluded.expected_bytes, max_bytes = excluded.max_bytes, max_tokens = excluded.max_tokens,
        retry_after = excluded.retry_after, retry_after_max = excluded.retry_after_max,
        breaker_failures = excluded.breaker_failures, breaker_window = excluded.breaker_window,
        breaker_cooldown = excluded.breaker_cooldown, breaker_cooldown_max = excluded.breaker_cooldown_max,
        breaker_trials = excluded.breaker_trials, call_timeout = excluded.call_timeout, updated_at = p_now
    where t.* is distinct from excluded.*;
    insert into livewell_private.limit_use (name)
    select n.name from unnest(p_endpoints) as n
    order by n.name
    on conflict (name) do nothing;
end $$;
