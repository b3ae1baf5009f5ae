-- What some jobs sum up to, by lane.
-- for: internal
create or replace function livewell_private.sum_jobs(
    p_places tid[], out lane_ids integer[], out calls bigint[], out tokens bigint[], out bytes bigint[], out unsized bigint[]
)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    select array_agg(s.lane_id), array_agg(s.calls), array_agg(s.tokens), array_agg(s.bytes), array_agg(s.unsized)
    into lane_ids, calls, tokens, bytes, unsized
    from (
        select j.lane_id, count(*) as calls, sum(j.estimated_tokens)::bigint as tokens,
            coalesce(sum(j.estimated_bytes), 0)::bigint as bytes, count(*) - count(j.estimated_bytes) as unsized
        from livewell_private.job_live as j where j.ctid = any (p_places)
        group by j.lane_id
    ) as s;
end $$;
