-- What a claim has chosen, with jobs that ride along: the best of each lane that has seats left in a request, also beyond the
-- number that was asked for, because a seat left empty is a request that somebody else will miss. None when their tokens or
-- bytes do not fit together.
-- for: internal
create or replace function livewell_private.fill_requests(p_chosen livewell_private.affordable_jobs, p_lanes livewell_private.open_lane[])
returns livewell_private.affordable_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_filled livewell_private.affordable_jobs := p_chosen;
    v_rooms livewell_private.budget_rooms;
    v_found tid[] := livewell_private.lock_riders(p_chosen, p_lanes);
begin
    if v_found is null or exists (
        select from unnest((p_chosen.rooms).kinds, (p_chosen.rooms).tokens) as r (kind, tokens)
        where r.kind = 'keys' and r.tokens is not null
    ) then
        return p_chosen;
    end if;
    select r.* into v_rooms
    from livewell_private.sum_jobs(v_found) as s
    cross join lateral livewell_private.rooms_after(
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
                from unnest(v_found) with ordinality as f (place, at) join livewell_private.job_live as j on j.ctid = f.place
            ) as r
            join (
                select o.lane_id, o.key, o.seats, sum(o.seats) over (partition by o.lane_id order by o.key) as last_seat
                from livewell_private.open_seats(p_chosen.places, p_chosen.keys, p_lanes) as o
            ) as s on s.lane_id = r.lane_id and r.seat > s.last_seat - s.seats and r.seat <= s.last_seat
            order by r.at
        );
    end if;
    return v_filled;
end $$;
