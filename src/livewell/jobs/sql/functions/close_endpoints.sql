-- Leaves endpoints where nothing may start alone until they open, so that nobody asks at a closed door: one whose limit, account or
-- keys are used up until the time that is known; one that gave nothing because its best job is too large for what is left, for a
-- moment.
-- for: internal
create or replace function livewell_private.close_endpoints(
    p_lanes livewell_private.open_lane[], p_headroom livewell_private.headroom, p_spending livewell_private.spending[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    update livewell_private.limit_use as u set next_allowed_at = c.opens_at
    from (
        select h.name, h.opens_at
        from unnest(p_headroom.limits) as h
        where h.kind <> 'keys' and h.requests = 0 and h.opens_at > p_now
        union all
        select l.endpoint, min(k.opens_at)
        from (select distinct l.endpoint from unnest(p_lanes) as l) as l
        join unnest(p_headroom.limits) as k on k.kind = 'keys' and k.provider = split_part(l.endpoint, '/', 1)
        group by l.endpoint
        having bool_and(k.requests = 0) and min(k.opens_at) > p_now
        union all
        select l.endpoint, min(p_now + case when j.tokens > h.tokens then interval '1 second' else interval '5 seconds' end)
        from unnest(p_lanes) as l
        join unnest(p_headroom.limits) as h on h.name = l.endpoint and h.requests is distinct from 0
        left join unnest(p_headroom.quotas) as q on q.provider = h.provider
        left join livewell.endpoints as e on e.name = l.endpoint
        cross join lateral (
            select j.estimated_tokens as tokens, coalesce(j.estimated_bytes, e.expected_bytes) as bytes, j.priority
            from livewell_private.job_live as j
            where j.lane_id = l.lane_id and j.state = 'pending' and j.waiting_for is null
            order by j.priority desc, j.due_at, j.id
            limit 1
        ) as j
        where (j.tokens > h.tokens or (j.bytes > q.bytes and j.priority >= 0))
            and l.endpoint not in (select s.endpoint from unnest(p_spending) as s)
        group by l.endpoint
    ) as c
    where u.name = c.name and u.next_allowed_at < c.opens_at;
end $$;
