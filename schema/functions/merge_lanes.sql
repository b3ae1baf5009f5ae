-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.merge_lanes(p_lane_ids integer[], p_limits bigint[], p_max_jobs integer)
 RETURNS livewell.shared_jobs
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_shared livewell.shared_jobs;
    v_lane_ids integer[];
begin
    select array_agg(m.place), array_agg(m.lane_id) into v_shared.places, v_lane_ids
    from (
        select m.place, m.lane_id from (
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[1] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[1]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[2] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[2]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[3] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[3]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[4] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[4]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[5] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[5]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[6] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[6]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[7] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[7]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[8] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[8]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[9] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[9]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[10] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[10]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[11] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[11]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[12] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[12]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[13] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[13]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[14] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[14]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[15] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[15]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell.job_live as j
                where j.lane_id = p_lane_ids[16] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[16]
            )
        ) as m
        order by m.priority desc, m.due_at, m.id
        limit p_max_jobs
    ) as m;
    v_shared.counts := array(
        select count(m.lane_id)::integer
        from unnest(p_lane_ids) with ordinality as l (lane_id, at) left join unnest(v_lane_ids) as m (lane_id) on m.lane_id = l.lane_id
        group by l.at
        order by l.at
    );
    return v_shared;
end $function$;
