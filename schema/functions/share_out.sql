-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.share_out(p_lanes livewell.open_lane[], p_max_jobs integer)
 RETURNS integer[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    if cardinality(p_lanes) = 1 then
        return array[p_lanes[1].room];
    end if;
    return (
        with ranked as (
            select c.at, c.share,
                row_number() over (partition by c.queue_group order by c.priority desc, c.due_at, c.id) as group_rank
            from (
                select l.at, l.queue_group, l.share, l.room, j.priority, j.due_at, j.id,
                    row_number() over (partition by l.kind order by j.priority desc, j.due_at, j.id) as kind_rank
                from unnest(p_lanes) with ordinality as l (lane_id, kind, queue_group, share, room, at)
                cross join lateral (
                    select c.priority, c.due_at, c.id from livewell.job_live as c
                    where c.lane_id = l.lane_id and c.state = 'pending' and c.held is null
                    order by c.priority desc, c.due_at, c.id
                    limit l.room
                ) as j
            ) as c
            where c.kind_rank <= c.room
        ),
        chosen as (
            select r.at from ranked as r order by (r.group_rank - 0.5) / r.share, r.at limit p_max_jobs
        )
        select array_agg(coalesce(n.jobs, 0) order by l.at)
        from generate_subscripts(p_lanes, 1) as l (at)
        left join (select c.at, count(*)::integer as jobs from chosen as c group by c.at) as n on n.at = l.at
    );
end $function$;
