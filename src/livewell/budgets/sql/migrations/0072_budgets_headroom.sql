-- squawk-ignore-file ban-drop-type
-- What a claim and a permit know of budgets, by name: one row per limit and one per quota, and what is drawn from them.
drop type livewell_private.affordable_jobs, livewell_private.budget_rooms, livewell_private.flight;

-- Calls at an endpoint by a key that are under way or wait, and bytes reserved that no ledger has yet. The key's limit is that of
-- its scope, by the name it has in limit_use.
create type livewell_private.endpoint_calls as (
    provider text, endpoint text, api_key text, key_limit text, calls bigint, bytes bigint
);

-- What may start now under a limit, of an endpoint, an account or a scope of keys; null is any amount. The spacing is that of a
-- smooth limit. Where nothing may start: when it opens again, and why. The share is the largest of those used of its windows.
create type livewell_private.limit_headroom as (
    name text, kind text, provider text, requests bigint, tokens bigint, spacing double precision, starts_trial boolean,
    opens_at timestamptz, reason text, used_share double precision
);

-- How many bytes may start now at a provider with a quota, and what that was worked out from.
create type livewell_private.quota_headroom as (
    provider text, bytes bigint, is_low boolean, allowed bigint, used bigint, in_flight bigint, counted bigint,
    bucket double precision, returned bigint, level integer
);

create type livewell_private.headroom as (limits livewell_private.limit_headroom[], has_keys boolean, quotas livewell_private.quota_headroom[]);

-- What some calls at one endpoint by one key cost together.
create type livewell_private.spending as (
    endpoint text, provider text, api_key text, key_limit text, requests bigint, tokens bigint, bytes bigint
);

-- Who else makes calls under these budgets, and its functions that count those under way and those that wait, so that budgets need
-- not know whose calls they are: (p_providers text[]) returns livewell_private.endpoint_calls[], for the service.
create table livewell_private.caller (
    name text not null,
    in_flight text not null,
    waiting text not null,
    constraint caller_pkey primary key (name)
);
insert into livewell_private.caller (name, in_flight, waiting) values ('jobs', 'jobs_in_flight', 'jobs_waiting');
