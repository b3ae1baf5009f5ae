-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.open_seats(p_places tid[], p_keys text[], p_lanes livewell.open_lane[])
 RETURNS TABLE(lane_id integer, key text, scope text, seats integer)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    return query
    select s.lane_id, s.key, k.provider || '@' || k.scope, s.seats
    from (
        select j.lane_id, c.key, ((l.per_request - count(*) % l.per_request) % l.per_request)::integer as seats
        from unnest(p_places, p_keys) as c (place, key)
        join livewell.job_live as j on j.ctid = c.place
        join unnest(p_lanes) as l on l.lane_id = j.lane_id and l.per_request > 1
        group by j.lane_id, c.key, l.per_request
    ) as s
    left join livewell.api_key as k on k.provider = split_part(s.key, '@', 1) and k.name = split_part(s.key, '@', 2)
    where s.seats > 0;
end $function$;
