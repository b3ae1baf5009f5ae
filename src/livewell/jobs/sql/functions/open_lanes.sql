-- The lanes a worker may claim from now and that hold something: its groups and kinds, not paused, with room left.
-- for: internal
create or replace function livewell.open_lanes(
    p_groups text[], p_kinds text[], p_shares double precision[], p_max_jobs integer, p_now timestamptz
) returns livewell.open_lane[]
language plpgsql security definer
set search_path = '' set enable_seqscan = off as $$
declare
    v_lanes livewell.open_lane[];
    v_capped boolean;
begin
    select
        array_agg(row (
            l.id, k.kind, k.queue_group, coalesce(p_shares[array_position(p_groups, k.queue_group)], 1), p_max_jobs
        )::livewell.open_lane),
        bool_or(k.concurrency is not null)
    into v_lanes, v_capped
    from livewell.job_lane as l join livewell.job_kind as k on k.kind = l.kind
    where k.queue_group = any (p_groups) and (p_kinds is null or k.kind = any (p_kinds))
        and (k.paused_until is null or k.paused_until <= p_now)
        and exists (
            select from livewell.job_live as j where j.lane_id = l.id and j.state = 'pending' and j.held is null
        );
    if v_capped then
        return livewell.lanes_within_caps(v_lanes, p_max_jobs);
    end if;
    return v_lanes;
end $$;
