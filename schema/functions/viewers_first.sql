-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.viewers_first(p_lanes livewell.open_lane[], p_passed tid[])
 RETURNS livewell.open_lane[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_lanes livewell.open_lane[] := p_lanes;
    v_endpoints constant text[] := array(
        select l.endpoint
        from unnest(p_lanes) as l
        where l.endpoint in (
            select s.endpoint from unnest(p_lanes) as s group by s.endpoint having count(distinct s.queue_group) > 1
        ) and (
            select true from livewell.job_live as c
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
end $function$;
