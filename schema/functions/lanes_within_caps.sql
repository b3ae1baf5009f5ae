-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lanes_within_caps(p_lanes livewell.open_lane[])
 RETURNS livewell.open_lane[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    -- What runs is counted in a statement after the one that takes the lock: counted in the same, the cap was exceeded.
    perform from livewell.job_kind as k
    where k.concurrency is not null and k.kind = any (array(select l.kind from unnest(p_lanes) as l))
    order by k.kind
    for no key update;
    return (
        select array_agg(o::livewell.open_lane)
        from (
            select l.lane_id, l.kind, l.queue_group, l.share, least(l.max_jobs, k.concurrency - (
                    select count(*) from livewell.job_live as j where j.state = 'processing' and j.kind = l.kind
                ))::integer as max_jobs,
                l.endpoint, l.jobs_per_request, l.allowance
            from unnest(p_lanes) as l join livewell.job_kind as k on k.kind = l.kind
        ) as o
        where o.max_jobs > 0
    );
end $function$;
