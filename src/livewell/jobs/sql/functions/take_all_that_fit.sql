-- What nearly every claim is: the best jobs of the lanes in one order, all of which fit and are free. Answers with no places when
-- it is not so simple: several groups, caps, keys or serial keys, a low quota, no room for all of them, a row that is held.
-- for: internal
create or replace function livewell_private.take_all_that_fit(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_rooms livewell_private.budget_rooms, p_shared boolean
) returns livewell_private.affordable_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_chosen livewell_private.affordable_jobs;
    v_best record;
begin
    if cardinality(p_lanes) > 16 or 'keys' = any (p_rooms.kinds) or true = any (p_rooms.low) or exists (
        select from unnest(p_lanes) as l where l.queue_group <> p_lanes[1].queue_group or l.room < p_max_jobs
    ) then
        return null;
    end if;
    select m.* into v_best
    from (
        select array_agg(l.lane_id) as ids, array_agg(least(l.calls, p_max_jobs)) as calls from unnest(p_lanes) as l
    ) as l
    cross join lateral livewell_private.merge_lanes(l.ids, l.calls, p_max_jobs) as m;
    v_chosen.rooms := livewell_private.rooms_after(
        v_best.lane_ids, case when p_shared then livewell_private.requests_for(v_best.lane_ids, v_best.calls, p_lanes, null) else v_best.calls end,
        v_best.tokens, v_best.bytes, v_best.unsized, p_lanes, p_rooms
    );
    if (v_chosen.rooms).names is null then
        return null;
    end if;
    -- Who claims from these endpoints waits for their budgets: the rows found are nearly always free.
    v_chosen.places := array(
        select j.ctid from livewell_private.job_live as j
        where j.ctid = any (v_best.places) and j.state = 'pending' and j.held is null and j.serial_key is null
        for update skip locked
    );
    return case when cardinality(v_chosen.places) = cardinality(v_best.places) then v_chosen end;
end $$;
