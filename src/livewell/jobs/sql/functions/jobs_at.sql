-- Locked jobs as a claim takes them, best first: what each reserves of its endpoint's budget, each with a request of its own.
-- for: internal
create or replace function livewell_private.jobs_at(p_places tid[], p_lanes livewell_private.open_lane[]) returns livewell_private.chosen_job[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(c::livewell_private.chosen_job)
        from (
            select j.ctid as place, j.lane_id, case when l.endpoint is not null then j.estimated_tokens end as tokens,
                case when l.endpoint is not null then coalesce(j.estimated_bytes, (l.allowance).bytes_per_job) end as bytes,
                null::text as api_key, null::text as key_limit, null::bigint as bundle, null::boolean as is_passenger
            from livewell_private.job_live as j join unnest(p_lanes) as l on l.lane_id = j.lane_id
            where j.ctid = any (p_places)
            order by j.priority desc, j.due_at, j.id
        ) as c
    );
end $$;
