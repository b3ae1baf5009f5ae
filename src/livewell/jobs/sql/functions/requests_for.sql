-- How many requests some jobs need, by lane: one for as many as its kind allows, none for those that find a seat in one that
-- was opened before.
-- for: internal
create or replace function livewell_private.requests_for(
    p_lane_ids integer[], p_jobs bigint[], p_lanes livewell_private.open_lane[], p_taken tid[]
) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select ceil(greatest(0, n.jobs - coalesce(s.seats, 0)) / l.per_request::numeric)::bigint
        from unnest(p_lane_ids, p_jobs) with ordinality as n (lane_id, jobs, at)
        join unnest(p_lanes) as l on l.lane_id = n.lane_id
        left join livewell_private.open_seats(p_taken, null, p_lanes) as s on s.lane_id = n.lane_id
        order by n.at
    );
end $$;
