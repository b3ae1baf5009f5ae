-- Endpoints that jobs named before budgets knew them: known from now on, with no limits but what somebody sets.
insert into livewell.provider (name)
select distinct split_part(l.endpoint, '/', 1) from livewell.job_lane as l
where l.endpoint ~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'
on conflict (name) do nothing;

insert into livewell.endpoint (name, provider, requests_per_minute, concurrent, depth_limit, breaker_failures)
select distinct l.endpoint, split_part(l.endpoint, '/', 1), null::integer, null::integer, null::integer, null::integer
from livewell.job_lane as l
where l.endpoint ~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'
on conflict (name) do nothing;

insert into livewell.limit_use (name) select e.name from livewell.endpoint as e on conflict (name) do nothing;
insert into livewell.quota_use (provider) select p.name from livewell.provider as p on conflict (provider) do nothing;

-- What a claim has chosen so far: rows by their place, the key of each, and the room that is left.
create type livewell.affordable_jobs as (places tid[], keys text[], rooms livewell.budget_rooms);
