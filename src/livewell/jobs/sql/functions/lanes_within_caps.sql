-- Lets each lane give as many jobs as its kind's concurrency still allows; the caps stay locked until the claim commits.
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
        select array_agg(o::livewell_private.open_lane)
        from (
            select l.lane_id, l.kind, l.queue_group, l.share, least(l.max_jobs, k.concurrency - (
                    select count(*) from livewell_private.job_live as j where j.lease_token is not null and j.kind = l.kind
                ))::integer as max_jobs,
                l.endpoint, l.jobs_per_request, l.allowance
            from unnest(p_lanes) as l join livewell_private.job_kind as k on k.kind = l.kind
        ) as o
        where o.max_jobs > 0
    );
end $$;
