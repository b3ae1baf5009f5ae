-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.bundle_jobs(p_places tid[], p_keys text[], p_lanes livewell.open_lane[], OUT bundles bigint[], OUT rides boolean[])
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    with placed as materialized (
        select c.at, j.lane_id, c.key, l.per_request, row_number() over (
            partition by j.lane_id, c.key order by j.priority desc, j.due_at, j.id
        ) - 1 as rank
        from unnest(p_places, p_keys) with ordinality as c (place, key, at)
        join livewell.job_live as j on j.ctid = c.place
        join unnest(p_lanes) as l on l.lane_id = j.lane_id
    ),
    carriers as materialized (
        select p.lane_id, p.key, p.rank, nextval('livewell.bundle_seq') as bundle
        from placed as p where p.per_request > 1 and p.rank % p.per_request = 0
    )
    select array_agg(c.bundle order by p.at), array_agg(p.rank <> c.rank order by p.at)
    into bundles, rides
    from placed as p
    left join carriers as c
        on c.lane_id = p.lane_id and c.key is not distinct from p.key and c.rank = p.rank - p.rank % p.per_request;
end $function$;
