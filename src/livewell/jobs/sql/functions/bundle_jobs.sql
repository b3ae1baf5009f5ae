-- Which of the jobs a claim takes go out in one request, and which of them ride along with another: jobs of one lane and key, in
-- order of priority, as many to a request as their kind allows. Null for those that go alone. Seen against what was spent:
-- there are exactly as many bundles as requests were debited for them.
-- for: internal
create or replace function livewell_private.bundle_jobs(
    p_places tid[], p_keys text[], p_lanes livewell_private.open_lane[], out bundles bigint[], out rides boolean[]
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with placed as materialized (
        select c.at, j.lane_id, c.key, l.per_request, row_number() over (
            partition by j.lane_id, c.key order by j.priority desc, j.due_at, j.id
        ) - 1 as rank
        from unnest(p_places, p_keys) with ordinality as c (place, key, at)
        join livewell_private.job_live as j on j.ctid = c.place
        join unnest(p_lanes) as l on l.lane_id = j.lane_id
    ),
    carriers as materialized (
        select p.lane_id, p.key, p.rank, nextval('livewell_private.bundle_seq') as bundle
        from placed as p where p.per_request > 1 and p.rank % p.per_request = 0
    )
    select array_agg(c.bundle order by p.at), array_agg(p.rank <> c.rank order by p.at)
    into bundles, rides
    from placed as p
    left join carriers as c
        on c.lane_id = p.lane_id and c.key is not distinct from p.key and c.rank = p.rank - p.rank % p.per_request;
end $$;
