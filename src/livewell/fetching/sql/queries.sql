-- name: store_fetches
-- Ends refreshes: stores, learns, finishes and settles in one transaction; answers per job.
select job_id, state, outcome, reason from livewell.store_fetches($1::text::jsonb)

-- name: fetch_conditions
-- What conditional requests for items may say.
select item_id, etag, last_modified from livewell.fetch_conditions($1)

-- name: check_storage
-- Whether the table of a type can take what its model brings.
select severity, problem, message, fix from livewell.check_storage($1, $2::text::jsonb)

-- name: read_items
-- What is stored of keys, how old it is, and why; a time without an end is none the driver could carry.
select key, value::text as value, case when isfinite(fetched_at) then fetched_at end as fetched_at, age, is_stale, viewers, why
from livewell.read_items($1, $2, coalesce($3, clock_timestamp()))

-- name: rehearse_fetches
-- What storing would make of refreshes; nothing is stored.
select key, outcome, reason, message from livewell.rehearse_fetches($1::text::jsonb)
