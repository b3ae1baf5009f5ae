-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.jobs_at(p_places tid[], p_lanes livewell.open_lane[])
 RETURNS livewell.chosen_job[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select array_agg(c::livewell.chosen_job)
        from (
            select j.ctid as place, j.lane_id, case when l.endpoint is not null then j.estimated_tokens end as tokens,
                case when l.endpoint is not null then coalesce(j.estimated_bytes, (l.allowance).bytes_per_job) end as bytes,
                null::text as api_key, null::text as key_limit, null::bigint as bundle, null::boolean as is_passenger
            from livewell.job_live as j join unnest(p_lanes) as l on l.lane_id = j.lane_id
            where j.ctid = any (p_places)
            order by j.priority desc, j.due_at, j.id
        ) as c
    );
end $function$;
