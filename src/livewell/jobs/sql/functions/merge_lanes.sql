-- The best ready jobs of up to sixteen lanes in one order, at most so many of each, and how many each gives. Each branch is a walk
-- through the ready index, and the server merges the walks: it reads as many rows as are asked for, and sorts nothing. Neither a
-- list of lanes nor a loop would be merged so, which is why the branches are written out.
-- for: internal
create or replace function livewell_private.merge_lanes(p_lane_ids integer[], p_limits bigint[], p_max_jobs integer)
returns livewell_private.shared_jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off set jit = off as $$
declare
    v_shared livewell_private.shared_jobs;
    v_lane_ids integer[];
begin
    select array_agg(m.place), array_agg(m.lane_id) into v_shared.places, v_lane_ids
    from (
        select m.place, m.lane_id from (
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[1] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[1]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[2] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[2]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[3] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[3]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[4] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[4]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[5] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[5]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[6] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[6]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[7] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[7]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[8] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[8]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[9] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[9]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[10] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[10]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[11] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[11]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[12] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[12]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[13] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[13]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[14] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[14]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[15] and j.state = 'pending' and j.waiting_for is null
                order by j.priority desc, j.due_at, j.id limit p_limits[15]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id from livewell_private.job_live as j
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
end $$;
