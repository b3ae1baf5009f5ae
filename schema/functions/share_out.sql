-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.share_out(p_lanes livewell.open_lane[], p_max_jobs integer, p_taken tid[] DEFAULT NULL::tid[])
 RETURNS integer[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_look integer := p_max_jobs;
    v_counts integer[];
begin
    if cardinality(p_lanes) = 1 then
        return array[least(p_max_jobs, p_lanes[1].room, p_lanes[1].calls)];
    end if;
    if cardinality(p_lanes) > 3 then
        v_look := 2 * p_max_jobs / cardinality(p_lanes) + 4;
    end if;
    loop
        with ranked as (
            select c.at, c.share,
                row_number() over (partition by c.queue_group order by c.priority desc, c.due_at, c.id) as group_rank
            from (
                select l.at, l.queue_group, l.share, l.room, j.priority, j.due_at, j.id,
                    row_number() over (partition by l.kind order by j.priority desc, j.due_at, j.id) as kind_rank
                from unnest(p_lanes) with ordinality as l (
                    lane_id, kind, queue_group, share, room, endpoint, calls, call_bytes, token_room, byte_room, lowest_priority, at
                )
                cross join lateral (
                    select c.priority, c.due_at, c.id from livewell.job_live as c
                    where c.lane_id = l.lane_id and c.state = 'pending' and c.held is null
                        and (l.token_room is null or c.estimated_tokens <= l.token_room)
                        and (l.byte_room is null or coalesce(c.estimated_bytes, l.call_bytes) <= l.byte_room)
                        and (l.lowest_priority is null or c.priority >= l.lowest_priority)
                        and (p_taken is null or c.ctid <> all (p_taken))
                    order by c.priority desc, c.due_at, c.id
                    limit least(l.room, l.calls, v_look)
                ) as j
            ) as c
            where c.kind_rank <= c.room
        ),
        chosen as (
            select r.at from ranked as r order by (r.group_rank - 0.5) / r.share, r.at limit p_max_jobs
        )
        select array_agg(coalesce(n.jobs, 0) order by l.at) into v_counts
        from generate_subscripts(p_lanes, 1) as l (at)
        left join (select c.at, count(*)::integer as jobs from chosen as c group by c.at) as n on n.at = l.at;
        -- A lane that gave all that was looked at may have more that is better than what others gave.
        exit when v_look >= p_max_jobs or v_look > all (v_counts);
        v_look := p_max_jobs;
    end loop;
    return v_counts;
end $function$;
