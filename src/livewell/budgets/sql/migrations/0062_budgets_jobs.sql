-- Endpoints that jobs named before budgets knew them: known from now on, with no limits but what somebody sets.
insert into livewell_private.provider (name)
select distinct split_part(l.endpoint, '/', 1) from livewell_private.job_lane as l
where l.endpoint ~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'
on conflict (name) do nothing;

insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit, breaker_failures)
select distinct l.endpoint, split_part(l.endpoint, '/', 1), null::integer, null::integer, null::integer, null::integer
from livewell_private.job_lane as l
where l.endpoint ~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'
on conflict (name) do nothing;

insert into livewell_private.limit_use (name) select e.name from livewell_private.endpoint as e on conflict (name) do nothing;
insert into livewell_private.quota_use (provider) select p.name from livewell_private.provider as p on conflict (provider) do nothing;

-- What a claim has chosen so far: rows by their place, the key of each, and the room that is left.
create type livewell_private.affordable_jobs as (places tid[], keys text[], rooms livewell_private.budget_rooms);
