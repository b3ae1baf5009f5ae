-- Locks the best ready jobs that could ride along in the requests a claim has opened: as many of each lane as there are seats,
-- within the cap of its kind, those whose serial key is free. Null when there are none.
-- for: internal
create or replace function livewell_private.lock_riders(p_chosen livewell_private.affordable_jobs, p_lanes livewell_private.open_lane[])
returns tid[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_found tid[];
    v_has_serial_keys boolean;
    v_serial_keys constant text[] := array(
        select j.serial_key from livewell_private.job_live as j where j.ctid = any (p_chosen.places) and j.serial_key is not null
    );
begin
    select array_agg(j.place), bool_or(j.serial_key is not null) into v_found, v_has_serial_keys
    from (
        -- One lane of a kind: what is left under its cap is counted once.
        select distinct on (l.kind) l.lane_id, l.lowest_priority, least(s.seats, l.room - (
            select count(*) from livewell_private.job_live as j where j.ctid = any (p_chosen.places) and j.kind = l.kind
        )) as seats
        from (
            select o.lane_id, sum(o.seats) as seats from livewell_private.open_seats(p_chosen.places, p_chosen.keys, p_lanes) as o group by o.lane_id
        ) as s
        join unnest(p_lanes) as l on l.lane_id = s.lane_id
        order by l.kind, l.lane_id
    ) as s
    cross join lateral (
        select c.ctid as place, c.serial_key from livewell_private.job_live as c
        where c.lane_id = s.lane_id and c.state = 'pending' and c.held is null
            and (s.lowest_priority is null or c.priority >= s.lowest_priority)
            and c.ctid <> all (p_chosen.places) and (c.serial_key is null or c.serial_key <> all (v_serial_keys))
        order by c.priority desc, c.due_at, c.id
        limit greatest(0, s.seats)
        for update skip locked
    ) as j;
    -- What the claim has opened is written by now.
    return case when v_has_serial_keys then livewell_private.take_serial_turns(v_found, true) else v_found end;
end $$;
