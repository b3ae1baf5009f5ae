-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refresh_headroom(p_endpoints text[], p_priority integer, p_now timestamp with time zone)
 RETURNS SETOF livewell.endpoint_headroom
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_horizon constant double precision := extract(epoch from livewell.setting_interval('freshness.horizon'));
    v_new_share constant double precision := livewell.setting_number('freshness.new_keys_share');
    v_providers constant text[] := array(
        select distinct p.name from livewell.endpoint as e join livewell.provider as p on p.name = e.provider
        where e.name = any (p_endpoints) and e.state = 'active' and p.state = 'active'
    );
begin
    return query
    with quotas as materialized (
        select p.name, livewell.quota_open(p.name, p_priority, p_now) as open, q.room
        from unnest(v_providers) as p (name)
        left join livewell.quota_rooms(v_providers, livewell.flights(v_providers, p_now), p_now) as q on q.provider = p.name
    )
    select e.name, e.provider, livewell.policy_of(p), e.state = 'active' and p.state = 'active', q.open, q.room, e.depth_limit::bigint,
        e.depth_limit - w.waiting, greatest(0, ceil(r.per_second * v_horizon)::bigint - ceil(w.wanted)::bigint),
        ceil(ceil(r.per_second * v_horizon) * v_new_share)::bigint - ceil(w.new_keys)::bigint,
        greatest(0, ceil(r.per_second * 15)::bigint - ceil(w.wanted)::bigint)
    from livewell.endpoint as e
    join livewell.provider as p on p.name = e.provider
    left join quotas as q on q.name = e.provider
    left join livewell.endpoint as a on a.name = e.provider and a.name <> e.name
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
                select j.kind, j.priority, j.payload from livewell.job_live as j where j.endpoint = e.name and j.state = 'pending' limit 10000
            ) as j
            group by j.kind
        ) as n
        join livewell.job_kind as k on k.kind = n.kind
    ) as w
    where e.name = any (p_endpoints);
end $function$;
