-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.sum_jobs(p_places tid[], OUT lane_ids integer[], OUT calls bigint[], OUT tokens bigint[], OUT bytes bigint[], OUT unsized bigint[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    select array_agg(s.lane_id), array_agg(s.calls), array_agg(s.tokens), array_agg(s.bytes), array_agg(s.unsized)
    into lane_ids, calls, tokens, bytes, unsized
    from (
        select j.lane_id, count(*) as calls, sum(j.estimated_tokens)::bigint as tokens,
            coalesce(sum(j.estimated_bytes), 0)::bigint as bytes, count(*) - count(j.estimated_bytes) as unsized
        from livewell.job_live as j where j.ctid = any (p_places)
        group by j.lane_id
    ) as s;
end $function$;
