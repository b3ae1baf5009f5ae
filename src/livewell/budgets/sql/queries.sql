-- name: acquire_permits
-- Up to a number of permits at once, or why none can be had now and when to ask again.
select block_id, permits, api_key, key_source, send_within_seconds, lease_seconds, retry_seconds, reason
from livewell.acquire_permits($1, $2, $3, $4, $5, $6)

-- name: settle_permits
-- What the permits of one block turned out to cost; answers with the numbers settled by this call.
select livewell.settle_permits($1, $2, $3, $4, $5, coalesce($6, clock_timestamp()))

-- name: renew_permits
-- The blocks of a holder that are still its own, for another lease.
select held.block_id from livewell.renew_permits($1, $2, coalesce($3, clock_timestamp())) as held (block_id)

-- name: learn_limits
-- What an answer told about limits; answers until when the endpoint is closed, or null.
select livewell.learn_limits($1, $2, $3::text::jsonb, $4, coalesce($5, clock_timestamp()))
