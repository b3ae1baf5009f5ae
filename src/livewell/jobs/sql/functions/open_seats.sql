-- Requests that a claim has opened and not filled, by lane and key: how many jobs more may ride along with each.
-- for: internal
create or replace function livewell_private.open_seats(p_places tid[], p_keys text[], p_lanes livewell_private.open_lane[])
returns table (lane_id integer, key text, scope text, seats integer)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select s.lane_id, s.key, k.provider || '@' || k.scope, s.seats
    from (
        select j.lane_id, c.key, ((l.per_request - count(*) % l.per_request) % l.per_request)::integer as seats
        from unnest(p_places, p_keys) as c (place, key)
        join livewell_private.job_live as j on j.ctid = c.place
        join unnest(p_lanes) as l on l.lane_id = j.lane_id and l.per_request > 1
        group by j.lane_id, c.key, l.per_request
    ) as s
    left join livewell_private.api_key as k on k.provider = split_part(s.key, '@', 1) and k.name = split_part(s.key, '@', 2)
    where s.seats > 0;
end $$;
