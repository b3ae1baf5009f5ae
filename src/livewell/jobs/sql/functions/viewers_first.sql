-- Lanes of several groups that share an endpoint, kept to what somebody waits for (a priority of zero or more) while one of them
-- has such a job that fits and was not passed: groups have their shares, but none of a group's scheduled work comes before
-- what a viewer of another waits for at the same endpoint.
-- for: internal
create or replace function livewell_private.viewers_first(p_lanes livewell_private.open_lane[], p_passed tid[])
returns livewell_private.open_lane[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_lanes livewell_private.open_lane[] := p_lanes;
    v_endpoints constant text[] := array(
        select l.endpoint
        from unnest(p_lanes) as l
        where l.endpoint in (
            select s.endpoint from unnest(p_lanes) as s group by s.endpoint having count(distinct s.queue_group) > 1
        ) and (
            select true from livewell_private.job_live as c
            where c.lane_id = l.lane_id and c.state = 'pending' and c.waiting_for is null and c.priority >= 0
                and ((l.allowance).tokens is null or c.estimated_tokens <= (l.allowance).tokens)
                and ((l.allowance).bytes is null or coalesce(c.estimated_bytes, (l.allowance).bytes_per_job) <= (l.allowance).bytes)
                and (p_passed is null or c.ctid <> all (p_passed))
            order by c.lane_id, c.priority desc, c.due_at, c.id
            limit 1
        )
    );
begin
    for v_at in 1..cardinality(v_lanes) loop
        if v_lanes[v_at].endpoint = any (v_endpoints) then
            v_lanes[v_at].allowance.lowest_priority := greatest(0, (v_lanes[v_at].allowance).lowest_priority);
        end if;
    end loop;
    return v_lanes;
end $$;
