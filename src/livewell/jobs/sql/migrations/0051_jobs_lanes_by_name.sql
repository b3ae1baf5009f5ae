-- squawk-ignore-file ban-drop-type
-- What the steps of a claim tell each other, by name.
drop type livewell_private.claim_view, livewell_private.open_lane;

-- What a lane may take of its endpoint's budget: requests it may start and slots left in those it has started, the largest
-- tokens and bytes of a job, what a job reserves whose size nobody knows, and which priority it needs at least.
create type livewell_private.lane_allowance as (
    requests bigint, free_slots integer, tokens bigint, bytes bigint, bytes_per_job bigint, lowest_priority integer
);

-- A lane that a claim may take from: at most so many jobs, because of its kind's cap; its allowance if it has an endpoint.
create type livewell_private.open_lane as (
    lane_id integer, kind text, queue_group text, share double precision, max_jobs integer, endpoint text, jobs_per_request integer,
    allowance livewell_private.lane_allowance
);

create type livewell_private.claim_view as (
    lanes livewell_private.open_lane[], default_lease interval, lease interval, has_serial_keys boolean, is_budgeted boolean
);

-- A job that a claim takes under budgets: its row by its place, what it reserves, its key, and its request if it shares one.
create type livewell_private.chosen_job as (
    place tid, lane_id integer, tokens integer, bytes bigint, api_key text, key_limit text, bundle bigint, is_passenger boolean
);
