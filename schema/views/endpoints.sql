-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Endpoints and accounts with what a person may set, and whether they are closed and why.
-- for: service
create view livewell.endpoints as
select
    e.name, e.provider, e.state, e.description, e.requests_per_minute, e.requests_per_hour, e.tokens_per_minute,
    e.tokens_per_hour, e.concurrent, e.limiter, e.send_within, e.backpressure_share, e.backpressure_delay, e.depth_limit,
    e.serial_keys, e.expected_bytes, e.max_bytes, e.max_tokens, e.retry_after, e.retry_after_max, e.breaker_failures,
    e.breaker_window, e.breaker_cooldown, e.breaker_cooldown_max, e.breaker_trials,
    case when u.closed_until > clock_timestamp() then u.closed_until end as closed_until,
    case when u.closed_until > clock_timestamp() then u.closed_reason end as closed_reason,
    u.breaker, e.call_timeout, e.created_at, e.updated_at
from livewell_private.endpoint as e
left join livewell_private.limit_use as u on u.name = e.name;

-- columns:
--   name text
--   provider text
--   state text
--   description text
--   requests_per_minute integer
--   requests_per_hour integer
--   tokens_per_minute integer
--   tokens_per_hour integer
--   concurrent integer
--   limiter text
--   send_within interval
--   backpressure_share double precision
--   backpressure_delay interval
--   depth_limit integer
--   serial_keys boolean
--   expected_bytes bigint
--   max_bytes bigint
--   max_tokens integer
--   retry_after interval
--   retry_after_max interval
--   breaker_failures integer
--   breaker_window interval
--   breaker_cooldown interval
--   breaker_cooldown_max interval
--   breaker_trials integer
--   closed_until timestamp with time zone
--   closed_reason text
--   breaker text
--   call_timeout interval
--   created_at timestamp with time zone
--   updated_at timestamp with time zone

grant select on table livewell.endpoints to livewell_service;
