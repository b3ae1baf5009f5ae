-- What an endpoint's answers have taught, without the rings that count what was sent.
-- for: internal
create or replace function livewell_private.taught_by_endpoint(p_use livewell_private.limit_use) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select jsonb_strip_nulls(to_jsonb(p_use) - array[
        'name', 'minute_slot', 'minute_requests', 'minute_tokens', 'hour_slot', 'hour_requests', 'hour_tokens', 'smooth_at',
        'next_allowed_at', 'failure_slot', 'failures', 'observed_at', 'grown_at'
    ])
$$;
