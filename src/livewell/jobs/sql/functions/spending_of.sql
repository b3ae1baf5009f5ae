-- What jobs cost together, by endpoint and key: who is a passenger needs no request.
-- for: internal
create or replace function livewell_private.spending_of(p_jobs livewell_private.chosen_job[], p_lanes livewell_private.open_lane[])
returns livewell_private.spending[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(s::livewell_private.spending)
        from (
            select l.endpoint, split_part(l.endpoint, '/', 1) as provider, j.api_key, j.key_limit,
                count(*) filter (where j.is_passenger is not true) as requests, sum(j.tokens)::bigint as tokens, sum(j.bytes)::bigint as bytes
            from unnest(p_jobs) as j join unnest(p_lanes) as l on l.lane_id = j.lane_id
            where l.endpoint is not null
            group by l.endpoint, j.api_key, j.key_limit
        ) as s
    );
end $$;
