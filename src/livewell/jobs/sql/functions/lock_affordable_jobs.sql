-- Locks the best ready jobs that fit the budgets of their endpoints, and spends for them: requests, tokens and concurrency of
-- endpoint, account and key, bytes of the provider's quota. What does not fit is passed over, not waited for. The budgets are
-- locked first and counted in later statements; the clock is read between, because who waited starts later than it asked.
-- for: internal
create or replace function livewell.lock_affordable_jobs(
    p_lanes livewell.open_lane[], p_max_jobs integer, p_now timestamptz, out places tid[], out keys text[],
    out lane_ids integer[], out call_bytes bigint[], out send_within double precision[], out granted_at timestamptz
)
language plpgsql security definer
set search_path = '' as $$
declare
    v_rooms livewell.budget_rooms;
    v_lanes livewell.open_lane[];
    v_found tid[];
    v_passed tid[];
    v_locked tid[];
    v_has_serial_keys boolean;
    v_chosen livewell.affordable_jobs;
begin
    v_rooms.names := livewell.lock_budgets(array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null));
    granted_at := coalesce(p_now, clock_timestamp());
    v_rooms := livewell.rooms_now(v_rooms.names, granted_at);
    -- A round that took fewer than it found leaves less room, and the next finds what is behind: smaller, or held by nobody.
    for v_round in 1..10 loop
        v_lanes := livewell.lanes_within_budget(p_lanes, v_rooms, places);
        exit when v_lanes is null;
        if lane_ids is null then
            select array_agg(l.lane_id), array_agg(l.call_bytes), array_agg(extract(epoch from e.send_within)::double precision)
            into lane_ids, call_bytes, send_within
            from unnest(v_lanes) as l left join livewell.endpoint as e on e.name = l.endpoint;
        end if;
        -- Who claims from these endpoints waits for their budgets: the places found are nearly always free.
        v_found := (livewell.share_out(v_lanes, p_max_jobs - coalesce(cardinality(places), 0), v_passed)).places;
        exit when v_found is null;
        v_passed := v_passed || v_found;
        select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_locked, v_has_serial_keys
        from (
            select j.ctid, j.serial_key from livewell.job_live as j
            where j.ctid = any (v_found) and j.state = 'pending' and j.held is null
            for update skip locked
        ) as j;
        if v_has_serial_keys then
            v_locked := livewell.take_serial_turns(v_locked);
        end if;
        continue when v_locked is null;
        v_chosen := livewell.choose_affordable_jobs(v_locked, v_lanes, v_rooms);
        v_rooms := v_chosen.rooms;
        exit when v_chosen.places is null;
        places := places || v_chosen.places;
        keys := keys || v_chosen.keys;
        exit when cardinality(v_chosen.places) = cardinality(v_found) or cardinality(places) >= p_max_jobs;
    end loop;
    if array_remove(keys, null) = '{}' then
        keys := null;
    end if;
    if places is not null then
        perform livewell.spend_budgets(v_rooms, keys, granted_at);
    end if;
    if coalesce(cardinality(places), 0) < p_max_jobs then
        perform livewell.close_endpoints(p_lanes, v_rooms, granted_at);
    end if;
end $$;
