-- Leaves endpoints without room alone until they open, so that nobody asks at a closed door: one whose limit, account or keys
-- are used up until the time that is known; one whose best job is too large for what is left, for a moment.
-- for: internal
create or replace function livewell_private.close_endpoints(
    p_lanes livewell_private.open_lane[], p_rooms livewell_private.budget_rooms, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    update livewell_private.limit_use as u set next_allowed_at = c.opens_at
    from (
        select r.name, r.opens_at
        from unnest(p_rooms.names, p_rooms.kinds, p_rooms.requests, p_rooms.opens) as r (name, kind, requests, opens_at)
        where r.kind <> 'keys' and r.requests = 0 and r.opens_at > p_now
        union all
        select l.endpoint, min(k.opens_at)
        from (select distinct l.endpoint from unnest(p_lanes) as l) as l
        join unnest(p_rooms.names, p_rooms.kinds, p_rooms.requests, p_rooms.opens) as k (name, kind, requests, opens_at)
            on k.kind = 'keys' and split_part(k.name, '@', 1) = split_part(l.endpoint, '/', 1)
        group by l.endpoint
        having bool_and(k.requests = 0) and min(k.opens_at) > p_now
        union all
        select l.endpoint, min(p_now + case when j.tokens > r.tokens then interval '1 second' else interval '5 seconds' end)
        from unnest(p_lanes) as l
        join unnest(p_rooms.names, p_rooms.requests, p_rooms.tokens, p_rooms.spent_requests) as r (name, requests, tokens, spent)
            on r.name = l.endpoint and r.spent = 0 and r.requests is distinct from 0
        left join unnest(p_rooms.providers, p_rooms.bytes) as q (provider, bytes) on q.provider = split_part(l.endpoint, '/', 1)
        left join livewell_private.endpoint as e on e.name = l.endpoint
        cross join lateral (
            select j.estimated_tokens as tokens, coalesce(j.estimated_bytes, e.expected_bytes) as bytes, j.priority
            from livewell_private.job_live as j
            where j.lane_id = l.lane_id and j.state = 'pending' and j.held is null
            order by j.priority desc, j.due_at, j.id
            limit 1
        ) as j
        where j.tokens > r.tokens or (j.bytes > q.bytes and j.priority >= 0)
        group by l.endpoint
    ) as c
    where u.name = c.name and u.next_allowed_at < c.opens_at;
end $$;
