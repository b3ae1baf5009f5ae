-- name: provider
-- One quota, paced evenly, and how refreshes are chosen.
insert into livewell_private.provider (name, quota_bytes, quota_use, pace_bucket, policy) values ('world', $1, $2, $3, $4)

-- name: quota_use
-- What is used of it: nothing.
insert into livewell_private.quota_use (provider) values ('world')

-- name: endpoint
-- All types are fetched by one call, so that one limit of requests holds for all.
insert into livewell_private.endpoint (name, provider, limiter, requests_per_minute, concurrent, depth_limit, max_bytes, breaker_failures)
values ('world/data', 'world', 'strict', $1, null, null, 1000000, null)

-- name: limit_use
-- What is used of the limit: nothing.
insert into livewell_private.limit_use (name) values ('world/data')

-- name: data_type
-- A type of the world, in Livewell's own table.
insert into livewell_private.data_type (name, endpoint, ttl, expected_bytes, value_rule, keys_per_request)
values ($1, 'world/data', make_interval(secs => 60 * $2::double precision), $3, $4, $5)

-- name: rows
-- Every row is there from the beginning, as old as the world says.
insert into livewell_private.record (data_type, key, value, fetched_at)
select a.data_type, a.key, '{}', a.fetched_at from unnest($1::text[], $2::text[], $3::timestamptz[]) as a (data_type, key, fetched_at)

-- name: items
-- The items of all rows, in their order.
select m.item_id from livewell_private.make_items($1::text[], $2::text[], $3) as m order by m.item_position

-- name: first_fetches
-- When each item was fetched last.
update livewell_private.item as i
set fetched_at = a.fetched_at, content_hash = '\x00'
from unnest($1::bigint[], $2::timestamptz[]) as a (id, fetched_at)
where i.id = a.id

-- name: change_viewers
-- Viewers come and go.
select livewell_private.change_viewers($1::bigint[], $2::integer[], $3)

-- name: open_session
-- A session of a user.
select livewell.open_sessions(array[$1::uuid], array[$2::text], null, $3)

-- name: subscribe
-- A session looks at items.
select outcomes from livewell.subscribe($1::uuid[], $2::text[], $3::text[], $4)

-- name: partitions
-- What a maintainer does daily.
select count(*) from livewell.make_job_partitions(2, $1)

-- name: task_check
-- One run of the checker.
select livewell_private.task_check($1)

-- name: task_rescue
-- One run of the rescuer: how many jobs it took back.
select jsonb_array_length(livewell.task_rescue($1) -> 'rescued')

-- name: claim
-- As much as may start now.
select c.job_id, c.lease_token, (c.payload ->> 'item')::bigint as item, c.bundle
from livewell.claim_jobs('replay', array['refresh'], 500, p_now => $1) as c

-- name: store
-- The rows that were fetched.
update livewell_private.record as r
set fetched_at = $3
from unnest($1::text[], $2::text[]) as a (data_type, key)
where r.data_type = a.data_type and r.key = a.key

-- name: learn
-- What the fetches taught.
select livewell_private.end_refreshes(array(
    select row (null, e.item_id, e.outcome, null, e.hash, e.bytes, null, null)::livewell_private.ended_refresh
    from unnest($1::bigint[], $2::text[], $3::bytea[], $4::bigint[]) as e (item_id, outcome, hash, bytes)
), $5)

-- name: finish
-- Ends the attempts, with what they took.
select count(*) from livewell.finish_jobs($1::bigint[], $2::uuid[], $3::text[], $4::text::jsonb, $5)
