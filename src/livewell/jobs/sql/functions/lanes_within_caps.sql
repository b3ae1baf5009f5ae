-- Leaves each lane as much room as its kind's concurrency still allows; the caps stay locked until the claim commits.
-- for: internal
create or replace function livewell_private.lanes_within_caps(p_lanes livewell_private.open_lane[])
returns livewell_private.open_lane[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    -- What runs is counted in a statement after the one that takes the lock: counted in the same, the cap was exceeded.
    perform from livewell_private.job_kind as k
    where k.concurrency is not null and k.kind = any (array(select l.kind from unnest(p_lanes) as l))
    order by k.kind
    for no key update;
    return (
        select array_agg(row (
            r.lane_id, r.kind, r.queue_group, r.share, r.room, r.endpoint, null, null, null, null, null, r.per_request
        )::livewell_private.open_lane)
        from (
            select l.*, least(l.room, k.concurrency - (
                select count(*) from livewell_private.job_live as j where j.state = 'processing' and j.kind = l.kind
            ))::integer as left_over
            from unnest(p_lanes) as l join livewell_private.job_kind as k on k.kind = l.kind
        ) as c
        cross join lateral (
            select c.lane_id, c.kind, c.queue_group, c.share, coalesce(c.left_over, c.room) as room, c.endpoint, c.per_request
        ) as r
        where r.room > 0
    );
end $$;
