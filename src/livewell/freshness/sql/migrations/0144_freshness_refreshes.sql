-- A refresh as it begins and as it ends: what is wanted of the queue, and what its item is told.
create type livewell_private.wanted_refresh as (item_id bigint, priority integer, cause text, asked_by text, never_stored boolean);

create type livewell_private.ended_refresh as (job_id bigint, item_id bigint, outcome text, reason text, hash bytea, bytes bigint);

-- What an endpoint takes now of refreshes: how many more may wait, how many requests can start soon, and how many bytes its provider has
-- left.
create type livewell_private.endpoint_headroom as (
    endpoint text, provider text, policy text, is_active boolean, quota_is_open boolean, bytes bigint, depth_limit bigint, depth bigint,
    soon bigint, new_keys bigint, at_once bigint
);
