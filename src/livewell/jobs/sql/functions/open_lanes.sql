-- The lanes a worker may claim from now and that hold something: its groups and kinds, not paused, with room left.
-- for: internal
create or replace function livewell.open_lanes(
    p_groups text[], p_kinds text[], p_shares double precision[], p_max_jobs integer, p_now timestamptz
) returns livewell.open_lane[]
language plpgsql security definer
set search_path = '' set enable_seqscan = off as $$
declare
    v_capped text[];
    v_lanes livewell.open_lane[];
begin
    if cardinality(p_shares) <> cardinality(p_groups) or not (0 < all (p_shares) and 'NaN' > all (p_shares)) then
        raise exception using errcode = 'LWJ03', message = 'each group needs a share, and a share is a positive number';
    end if;
    -- The cap is counted in a statement after the one that takes the lock: counted in the same, it was exceeded.
    select array_agg(c.kind) into v_capped from (
        select k.kind from livewell.job_kind as k
        where k.concurrency is not null and k.queue_group = any (p_groups) and (p_kinds is null or k.kind = any (p_kinds))
            and (k.paused_until is null or k.paused_until <= p_now)
            and exists (
                select from livewell.job_lane as l join livewell.job_live as j on j.lane_id = l.id
                where l.kind = k.kind and j.state = 'pending' and j.held is null
            )
        order by k.kind
        for no key update of k
    ) as c;

    select array_agg(row (l.id, k.kind, k.queue_group, g.share, r.room)::livewell.open_lane) into v_lanes
    from unnest(p_groups, coalesce(p_shares, array_fill(1.0, array[cardinality(p_groups)]))) as g (queue_group, share)
    join livewell.job_kind as k on k.queue_group = g.queue_group
    join livewell.job_lane as l on l.kind = k.kind
    cross join lateral (
        select case
            when k.concurrency is null then p_max_jobs
            -- Not locked above: its first ready job came since, and has to wait for the next claim.
            when not k.kind = any (coalesce(v_capped, '{}')) then 0
            else least(p_max_jobs, k.concurrency - (
                select count(*) from livewell.job_live as j where j.state = 'processing' and j.kind = k.kind
            ))::integer
        end as room
    ) as r
    where (p_kinds is null or k.kind = any (p_kinds))
        and (k.paused_until is null or k.paused_until <= p_now)
        and r.room > 0
        and exists (
            select from livewell.job_live as j where j.lane_id = l.id and j.state = 'pending' and j.held is null
        );
    return v_lanes;
end $$;
