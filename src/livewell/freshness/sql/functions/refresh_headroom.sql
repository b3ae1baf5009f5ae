-- What some endpoints take now of refreshes of a priority: whether they and their quota are open, how many bytes their provider has left,
-- and how many refreshes may be queued: up to their depth limit (null: any number), and just in time, that is no more requests than can
-- start within the horizon. What waits already is counted; those that share a request count as a part of it. Keys that were never
-- fetched have a part of what is just in time to themselves, and no more than that while others wait. What somebody asks for just now
-- may be more: a quarter of a minute's requests, so that a page does not fill up by the second.
-- for: internal
create or replace function livewell_private.refresh_headroom(p_endpoints text[], p_priority integer, p_now timestamptz)
returns setof livewell_private.endpoint_headroom
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_horizon constant double precision := extract(epoch from livewell.setting_interval('freshness.horizon'));
    v_new_share constant double precision := livewell.setting_number('freshness.new_keys_share');
    v_providers constant text[] := array(
        select distinct p.name from livewell.endpoints as e join livewell_private.provider as p on p.name = e.provider
        where e.name = any (p_endpoints) and e.state = 'active' and p.state = 'active'
    );
begin
    return query
    with quotas as materialized (
        select p.name, livewell.quota_open(p.name, p_priority, p_now) as open, q.bytes
        from unnest(v_providers) as p (name)
        left join unnest(
            livewell_private.quotas_now(v_providers, livewell_private.calls_in_flight(v_providers, p_now), p_now)
        ) as q on q.provider = p.name
    )
    select e.name, e.provider, livewell_private.policy_of(p), e.state = 'active' and p.state = 'active', q.open, q.bytes, e.depth_limit::bigint,
        e.depth_limit - w.waiting, greatest(0, ceil(r.per_second * v_horizon)::bigint - ceil(w.wanted)::bigint),
        ceil(ceil(r.per_second * v_horizon) * v_new_share)::bigint - ceil(w.new_keys)::bigint,
        greatest(0, ceil(r.per_second * 15)::bigint - ceil(w.wanted)::bigint)
    from livewell.endpoints as e
    join livewell_private.provider as p on p.name = e.provider
    left join quotas as q on q.name = e.provider
    left join livewell.endpoints as a on a.name = e.provider and a.name <> e.name
    cross join lateral (
        select least(
            1000000, e.requests_per_minute / 60.0, e.requests_per_hour / 3600.0, a.requests_per_minute / 60.0, a.requests_per_hour / 3600.0
        ) as per_second
    ) as r
    cross join lateral (
        select coalesce(sum(n.waiting), 0)::bigint as waiting, coalesce(sum(n.wanted / k.jobs_per_request::numeric), 0) as wanted,
            coalesce(sum(n.new_keys / k.jobs_per_request::numeric), 0) as new_keys
        from (
            select j.kind, count(*) as waiting, count(*) filter (where j.priority >= 0) as wanted,
                count(*) filter (where j.priority >= 0 and j.payload ? 'new') as new_keys
            from (
                select j.kind, j.priority, j.payload from livewell_private.job_live as j where j.endpoint = e.name and j.state = 'pending' limit 10000
            ) as j
            group by j.kind
        ) as n
        join livewell_private.job_kind as k on k.kind = n.kind
    ) as w
    where e.name = any (p_endpoints);
end $$;
