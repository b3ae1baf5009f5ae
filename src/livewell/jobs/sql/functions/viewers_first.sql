-- Lanes of several groups that share an endpoint, held to what somebody waits for (a priority of zero or more) while one of them
-- has such a job that fits and was not passed: groups have their shares, but none of a group's scheduled work comes before
-- what a viewer of another waits for at the same endpoint.
-- for: internal
create or replace function livewell_private.viewers_first(p_lanes livewell_private.open_lane[], p_passed tid[])
returns livewell_private.open_lane[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(row (
            l.lane_id, l.kind, l.queue_group, l.share, l.room, l.endpoint, l.calls, l.call_bytes, l.token_room, l.byte_room,
            case when l.endpoint = any (w.endpoints) then greatest(0, l.lowest_priority) else l.lowest_priority end,
            l.per_request
        )::livewell_private.open_lane order by l.at)
        from unnest(p_lanes) with ordinality as l (
            lane_id, kind, queue_group, share, room, endpoint, calls, call_bytes, token_room, byte_room, lowest_priority, per_request, at
        )
        cross join (
            select array_agg(l.endpoint) as endpoints
            from unnest(p_lanes) as l
            where l.endpoint in (
                select s.endpoint from unnest(p_lanes) as s group by s.endpoint having count(distinct s.queue_group) > 1
            ) and (
                select true from livewell_private.job_live as c
                where c.lane_id = l.lane_id and c.state = 'pending' and c.held is null and c.priority >= 0
                    and (l.token_room is null or c.estimated_tokens <= l.token_room)
                    and (l.byte_room is null or coalesce(c.estimated_bytes, l.call_bytes) <= l.byte_room)
                    and (p_passed is null or c.ctid <> all (p_passed))
                order by c.lane_id, c.priority desc, c.due_at, c.id
                limit 1
            )
        ) as w
    );
end $$;
