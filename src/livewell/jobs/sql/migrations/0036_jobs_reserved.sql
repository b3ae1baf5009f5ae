-- What an attempt has reserved of its endpoint's budget, and by which key; null while it has not.
alter table livewell_private.job add column reserved_bytes bigint, add column reserved_tokens integer, add column api_key text;
-- One call at an endpoint as it is settled: what it had reserved, what it used (null: nobody knows), how it ended,
-- and what its answer said of the rate.
create type livewell_private.spent_call as (
    endpoint text, api_key text, subject text, started_at timestamptz, reserved_bytes bigint, reserved_tokens integer,
    bytes bigint, tokens integer, outcome text, rate jsonb
);
alter type livewell_private.ended_jobs add attribute spent livewell_private.spent_call[];
-- What a look found tells whether endpoints are to be asked, and what a lane may spend of them.
alter type livewell_private.claim_view add attribute budgeted boolean;
alter type livewell_private.open_lane
add attribute endpoint text, add attribute calls integer, add attribute call_bytes bigint, add attribute token_room bigint,
add attribute byte_room bigint, add attribute lowest_priority integer;
-- How a claim is shared out: how many each lane gives, and which.
create type livewell_private.shared_jobs as (counts integer[], places tid[]);
