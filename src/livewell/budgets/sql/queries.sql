-- name: apply_providers
-- Makes providers, endpoints and keys as declared, or plans it.
select thing, name, change, field, old::text as old, new::text as new from livewell.apply_providers($1::text::jsonb, $2, $3)

-- name: set_provider
-- Tunes a provider.
select livewell.set_provider($1, $2::text::jsonb, $3, $4)

-- name: set_endpoint
-- Tunes an endpoint.
select livewell.set_endpoint($1, $2::text::jsonb, $3, $4)

-- name: pause_endpoint
-- Closes an endpoint until a time, or until resumed.
select livewell.pause_endpoint($1, coalesce($2, 'infinity'::timestamptz), $3, $4)

-- name: resume_endpoint
-- Opens an endpoint that was paused or closed.
select livewell.resume_endpoint($1, $2, $3)

-- name: reset_endpoint
-- Forgets what an endpoint taught.
select livewell.reset_endpoint($1, $2, $3)

-- name: list_providers
-- Providers by name.
select
    name, state, description, base_url, quota_bytes, quota_window, quota_use, pace, pace_bucket, policy, hosts, key_in,
    allow_private, created_at, updated_at
from livewell.providers
where $1::text[] is null or name = any ($1)
order by name

-- name: list_endpoints
-- Endpoints by name; a closing without an end has no time the driver could carry.
select
    name, provider, state, description, requests_per_minute, requests_per_hour, tokens_per_minute, tokens_per_hour,
    concurrent, limiter, send_within, backpressure_share, backpressure_delay, depth_limit, serial_keys, expected_bytes,
    max_bytes, max_tokens, retry_after, retry_after_max, breaker_failures, breaker_window, breaker_cooldown,
    breaker_cooldown_max, breaker_trials, nullif(closed_until, 'infinity') as closed_until,
    coalesce(closed_until = 'infinity', false) as closed_for_good, closed_reason, coalesce(breaker, 'closed') as breaker,
    call_timeout, created_at, updated_at
from livewell.endpoints
where $1::text[] is null or name = any ($1)
order by name

-- name: list_api_keys
-- Keys by provider and name.
select
    provider, name, scope, source, enabled, requests_per_minute, requests_per_hour, tokens_per_minute, tokens_per_hour,
    concurrent, granted, created_at, updated_at
from livewell.api_keys
order by provider, name

-- name: budget_state
-- What is used of every limit now; what is closed and has no time to open was closed for good.
select
    name, kind, provider, state, requests_per_minute, requests_last_minute, requests_per_hour, requests_last_hour,
    tokens_per_minute, tokens_last_minute, tokens_per_hour, tokens_last_hour, concurrent, in_flight, waiting,
    learned::text as learned, case when isfinite(opens_at) then opens_at end as opens_at,
    opens_at is null and closed_reason is not null as closed_for_good, closed_reason, breaker,
    case when isfinite(breaker_until) then breaker_until end as breaker_until
from livewell.budget_state()
order by name

-- name: quota_states
-- What is used of every quota now.
select
    provider, quota_bytes, allowed_bytes, used_bytes, in_flight_bytes, share, level, open, open_for_scheduled,
    case when isfinite(opens_at) then opens_at end as opens_at,
    case when isfinite(exhausted_at) then exhausted_at end as exhausted_at, bucket_bytes, pace
from livewell.quota_states()
order by provider

-- name: list_estimates
-- How large answers are, by endpoint and subject.
select endpoint, subject, samples, bytes_mean, bytes_upper, tokens_mean, over_twice, over_twice_at
from livewell.estimates
order by endpoint, subject

-- name: acquire_permits
-- Up to a number of permits at once, or why none can be had now and when to ask again.
select block_id, permits, api_key, key_source, send_within_seconds, lease_seconds, retry_seconds, reason
from livewell.acquire_permits($1, $2, $3, $4, $5, $6, $7)

-- name: further_request
-- One request more for a fetch under way, or why not and when to ask again.
select granted, send_within_seconds, retry_seconds, reason from livewell.further_request($1, $2, $3)

-- name: settle_permits
-- What the permits of one block turned out to cost; answers with the numbers settled by this call.
select livewell.settle_permits($1, $2, $3, $4, $5, coalesce($6, clock_timestamp()))

-- name: renew_permits
-- The blocks of a holder that are still its own, for another lease.
select held.block_id from livewell.renew_permits($1, $2, coalesce($3, clock_timestamp())) as held (block_id)

-- name: learn_limits
-- What an answer told about limits; answers until when the endpoint is closed, or null.
select livewell.learn_limits($1, $2, $3::text::jsonb, $4, coalesce($5, clock_timestamp()))
