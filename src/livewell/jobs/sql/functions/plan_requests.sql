-- In which requests jobs would go out, and by which keys. Jobs of one lane share a request if their kind allows, and fill first
-- the one that an earlier round began: the first job of a request carries it, the others are its passengers. Each new request is
-- given the key of the scope that has most left, then of that used least. What no key is left for is left out.
-- for: internal
create or replace function livewell_private.plan_requests(
    p_jobs livewell_private.chosen_job[], p_lanes livewell_private.open_lane[], p_taken livewell_private.chosen_job[], p_limits livewell_private.limit_headroom[]
) returns livewell_private.chosen_job[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        with found as (
            select j.*, split_part(l.endpoint, '/', 1) as provider, l.jobs_per_request,
                t.jobs - 1 + row_number() over (partition by j.lane_id order by j.ordinality) as rank_in_lane
            from unnest(p_jobs) with ordinality as j
            join unnest(p_lanes) as l on l.lane_id = j.lane_id
            cross join lateral (select count(*) as jobs from unnest(p_taken) as t where t.lane_id = j.lane_id) as t
        ),
        begun as (
            select f.lane_id, f.rank_in_lane / f.jobs_per_request as number, f.provider,
                row_number() over (partition by f.provider order by f.ordinality) as turn,
                case when f.jobs_per_request > 1 then nextval('livewell_private.bundle_seq') end as bundle
            from found as f where f.rank_in_lane % f.jobs_per_request = 0
        ),
        keys as (
            select k.provider, k.api_key, k.key_limit, row_number() over (
                partition by k.provider order by r.requests - n.nth desc nulls first, u.requests + n.nth, k.granted, k.api_key
            ) as turn
            from livewell_private.keys_of(p_limits) as k
            join (
                select f.provider, max(f.tokens) as tokens, count(*) as jobs from found as f group by f.provider
            ) as f on f.provider = k.provider
            cross join lateral (select least(k.requests, k.tokens / nullif(f.tokens, 0)) as requests) as r
            cross join lateral (
                select count(*) as requests from unnest(p_taken) as t where t.key_limit = k.key_limit and t.is_passenger is not true
            ) as u
            cross join lateral generate_series(0, least(r.requests, f.jobs) - 1) as n (nth)
        ),
        requests as (
            select b.lane_id, b.number, b.bundle, k.api_key, k.key_limit
            from begun as b left join keys as k on k.provider = b.provider and k.turn = b.turn
            where k.turn is not null or not exists (
                select from unnest(p_limits) as l where l.kind = 'keys' and l.provider = b.provider
            )
            union all
            -- The last request of a lane is the only one that may have free slots.
            select l.lane_id, t.jobs / l.jobs_per_request, t.bundle, t.api_key, t.key_limit
            from unnest(p_lanes) as l
            cross join lateral (
                select t.bundle, t.api_key, t.key_limit, count(*) over () as jobs
                from unnest(p_taken) as t where t.lane_id = l.lane_id
                order by t.bundle desc
                limit 1
            ) as t
            where t.jobs % l.jobs_per_request > 0
        )
        select array_agg(c::livewell_private.chosen_job)
        from (
            select f.place, f.lane_id, f.tokens, f.bytes, r.api_key, r.key_limit, r.bundle,
                case when r.bundle is not null then f.rank_in_lane % f.jobs_per_request > 0 end as is_passenger
            from found as f
            join requests as r on r.lane_id = f.lane_id and r.number = f.rank_in_lane / f.jobs_per_request
            order by f.ordinality
        ) as c
    );
end $$;
