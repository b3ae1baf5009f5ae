-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.spending_of(p_jobs livewell.chosen_job[], p_lanes livewell.open_lane[])
 RETURNS livewell.spending[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select array_agg(s::livewell.spending)
        from (
            select l.endpoint, split_part(l.endpoint, '/', 1) as provider, j.api_key, j.key_limit,
                count(*) filter (where j.is_passenger is not true) as requests, sum(j.tokens)::bigint as tokens, sum(j.bytes)::bigint as bytes
            from unnest(p_jobs) as j join unnest(p_lanes) as l on l.lane_id = j.lane_id
            where l.endpoint is not null
            group by l.endpoint, j.api_key, j.key_limit
        ) as s
    );
end $function$;
