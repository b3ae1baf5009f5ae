-- name: explain_item
-- Why the items of a key are as they are, of one type or of all; times without an end are none the driver could carry.
select
    data_type, key, item_id, endpoint, policy, strategy, viewers, viewers_average, watched_since, newest, ttl, stale, error, gate,
    case when isfinite(gate_opens_at) then gate_opens_at end as gate_opens_at, fetches, changes, change_rate, bytes, price, score,
    decision, decided_at, decision_now, case when isfinite(due_at) then due_at end as due_at, last_outcome, last_reason,
    last_outcome_at, failed_refreshes, job_id, job_state, job_attempt, job_priority, job_due_at, job_cause, blocked_by, blocked_until,
    case when isfinite(next_walk_at) then next_walk_at end as next_walk_at, recent::text
from livewell.explain_item($1, $2, coalesce($3, clock_timestamp()))

-- name: item_states
-- The state of items, in their order.
select item_id, version, fetched_at, age, fresh_for, refreshing, waiting_for, waiting_until, gone
from livewell.item_states($1, coalesce($2, clock_timestamp()))

-- name: freshness_figures
-- What viewers saw since a time, by type and audience; a null type is all of them.
select
    data_type, audience, viewer_minutes, within_ttl, fresh, ok, w50, w99, overdue50, overdue99, fetches, unchanged, samples,
    samples_fresh, samples_fresh_error, samples_ok, samples_ok_error
from livewell.freshness_figures($1, coalesce($2, clock_timestamp()))

-- name: freshness_now
-- What is watched at this moment, by type.
select data_type, items, viewers, within_ttl, viewers_within_ttl, missing, oldest, refused, failed, reason
from livewell.freshness_now(coalesce($1, clock_timestamp()))

-- name: freshness_hours
-- What viewers saw, hour by hour, oldest first, by type.
select hour, data_type, viewer_minutes, ok from livewell.freshness where audience = 'all' and hour >= $1 order by hour, data_type

-- name: refresh_counts
-- How many refreshes of each type were completed, ever.
select data_type, refreshes from livewell.refresh_counts

-- name: refresh_policies
-- How each provider's refreshes are chosen, and the price of a byte.
select provider, policy, price, bucket_share, priced_at from livewell.refresh_policies order by provider

-- name: find_items
-- The items of types and keys, by position.
select livewell.find_items($1, $2)
