-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.close_endpoints(p_lanes livewell.open_lane[], p_rooms livewell.budget_rooms, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    update livewell.limit_use as u set next_allowed_at = c.opens_at
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
        left join livewell.endpoint as e on e.name = l.endpoint
        cross join lateral (
            select j.estimated_tokens as tokens, coalesce(j.estimated_bytes, e.expected_bytes) as bytes, j.priority
            from livewell.job_live as j
            where j.lane_id = l.lane_id and j.state = 'pending' and j.held is null
            order by j.priority desc, j.due_at, j.id
            limit 1
        ) as j
        where j.tokens > r.tokens or (j.bytes > q.bytes and j.priority >= 0)
        group by l.endpoint
    ) as c
    where u.name = c.name and u.next_allowed_at < c.opens_at;
end $function$;
