-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.merge_lanes(p_lane_ids integer[], p_calls integer[], p_max_jobs integer, OUT places tid[], OUT lane_ids integer[], OUT calls bigint[], OUT tokens bigint[], OUT bytes bigint[], OUT unsized bigint[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    with best as materialized (
        select m.* from (
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[1] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[1]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[2] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[2]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[3] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[3]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[4] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[4]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[5] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[5]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[6] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[6]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[7] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[7]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[8] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[8]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[9] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[9]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[10] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[10]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[11] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[11]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[12] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[12]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[13] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[13]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[14] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[14]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[15] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[15]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell.job_live as j
                where j.lane_id = p_lane_ids[16] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[16]
            )
        ) as m
        order by m.priority desc, m.due_at, m.id
        limit p_max_jobs
    )
    select (select array_agg(b.place) from best as b), array_agg(s.lane_id), array_agg(s.calls), array_agg(s.tokens),
        array_agg(s.bytes), array_agg(s.unsized)
    into places, lane_ids, calls, tokens, bytes, unsized
    from (
        select b.lane_id, count(*) as calls, sum(b.estimated_tokens)::bigint as tokens,
            coalesce(sum(b.estimated_bytes), 0)::bigint as bytes, count(*) - count(b.estimated_bytes) as unsized
        from best as b
        group by b.lane_id
    ) as s;
end $function$;
