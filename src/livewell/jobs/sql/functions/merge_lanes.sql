-- The best ready jobs of up to sixteen lanes in one order, at most so many of each, and what they sum up to by lane. Each branch
-- is a walk through the ready index, and the server merges the walks: it reads as many rows as are asked for, and sorts
-- nothing. Neither a list of lanes nor a loop would be merged so, which is why the branches are written out.
-- for: internal
create or replace function livewell_private.merge_lanes(
    p_lane_ids integer[], p_calls integer[], p_max_jobs integer, out places tid[], out lane_ids integer[], out calls bigint[],
    out tokens bigint[], out bytes bigint[], out unsized bigint[]
)
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off set jit = off as $$
begin
    with best as materialized (
        select m.* from (
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[1] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[1]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[2] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[2]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[3] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[3]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[4] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[4]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[5] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[5]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[6] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[6]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[7] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[7]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[8] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[8]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[9] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[9]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[10] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[10]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[11] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[11]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[12] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[12]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[13] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[13]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[14] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[14]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
                where j.lane_id = p_lane_ids[15] and j.state = 'pending' and j.held is null
                order by j.priority desc, j.due_at, j.id
                limit p_calls[15]
            )
            union all
            (
                select j.lane_id, j.ctid as place, j.priority, j.due_at, j.id, j.estimated_tokens, j.estimated_bytes
                from livewell_private.job_live as j
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
end $$;
