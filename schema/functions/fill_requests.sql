-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.fill_requests(p_chosen livewell.affordable_jobs, p_lanes livewell.open_lane[])
 RETURNS livewell.affordable_jobs
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_filled livewell.affordable_jobs := p_chosen;
    v_rooms livewell.budget_rooms;
    v_found tid[] := livewell.lock_riders(p_chosen, p_lanes);
begin
    if v_found is null or exists (
        select from unnest((p_chosen.rooms).kinds, (p_chosen.rooms).tokens) as r (kind, tokens)
        where r.kind = 'keys' and r.tokens is not null
    ) then
        return p_chosen;
    end if;
    select r.* into v_rooms
    from livewell.sum_jobs(v_found) as s
    cross join lateral livewell.rooms_after(
        s.lane_ids, array_fill(0::bigint, array[cardinality(s.lane_ids)]), s.tokens, s.bytes, s.unsized, p_lanes, p_chosen.rooms
    ) as r;
    if v_rooms.names is null then
        return p_chosen;
    end if;
    v_filled.rooms := v_rooms;
    v_filled.places := p_chosen.places || v_found;
    if p_chosen.keys is not null then
        -- Who rides along uses the key of the request: the first seats are those of the first key.
        v_filled.keys := p_chosen.keys || array(
            select s.key
            from (
                select j.lane_id, f.at, row_number() over (partition by j.lane_id order by f.at) as seat
                from unnest(v_found) with ordinality as f (place, at) join livewell.job_live as j on j.ctid = f.place
            ) as r
            join (
                select o.lane_id, o.key, o.seats, sum(o.seats) over (partition by o.lane_id order by o.key) as last_seat
                from livewell.open_seats(p_chosen.places, p_chosen.keys, p_lanes) as o
            ) as s on s.lane_id = r.lane_id and r.seat > s.last_seat - s.seats and r.seat <= s.last_seat
            order by r.at
        );
    end if;
    return v_filled;
end $function$;
