-- squawk-ignore-file ban-drop-type
-- What a claim and a permit know of budgets, by name: one row per limit and one per quota, and what is drawn from them.
drop type livewell.affordable_jobs, livewell.budget_rooms, livewell.flight;

-- Calls at an endpoint by a key that are under way or wait, and bytes reserved that no ledger has yet. The key's limit is that of
-- its scope, by the name it has in limit_use.
create type livewell.endpoint_calls as (
    provider text, endpoint text, api_key text, key_limit text, calls bigint, bytes bigint
);

-- What may start now under a limit, of an endpoint, an account or a scope of keys; null is any amount. The spacing is that of a
-- smooth limit. Where nothing may start: when it opens again, and why. The share is the largest of those used of its windows.
create type livewell.limit_headroom as (
    name text, kind text, provider text, requests bigint, tokens bigint, spacing double precision, starts_trial boolean,
    opens_at timestamptz, reason text, used_share double precision
);

-- How many bytes may start now at a provider with a quota, and what that was worked out from.
create type livewell.quota_headroom as (
    provider text, bytes bigint, is_low boolean, allowed bigint, used bigint, in_flight bigint, counted bigint,
    bucket double precision, returned bigint, level integer
);

create type livewell.headroom as (limits livewell.limit_headroom[], has_keys boolean, quotas livewell.quota_headroom[]);

-- What some calls at one endpoint by one key cost together.
create type livewell.spending as (
    endpoint text, provider text, api_key text, key_limit text, requests bigint, tokens bigint, bytes bigint
);

-- Who else makes calls under these budgets, and its functions that count those under way and those that wait, so that budgets need
-- not know whose calls they are: (p_providers text[]) returns livewell.endpoint_calls[], for the service.
create table livewell.caller (
    name text not null,
    in_flight text not null,
    waiting text not null,
    constraint caller_pkey primary key (name)
);
insert into livewell.caller (name, in_flight, waiting) values ('jobs', 'jobs_in_flight', 'jobs_waiting');
