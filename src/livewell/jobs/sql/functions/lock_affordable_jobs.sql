-- Locks the best ready jobs that fit the budgets of their endpoints, and spends for them: requests, tokens and concurrency of
-- endpoint, account and key, bytes of the provider's quota. What does not fit is passed over, not waited for. The budgets are
-- locked first and counted in later statements; the clock is read between, because who waited starts later than it asked.
-- for: internal
create or replace function livewell.lock_affordable_jobs(
    p_lanes livewell.open_lane[], p_max_jobs integer, p_now timestamptz, out places tid[], out keys text[],
    out lanes livewell.open_lane[], out granted_at timestamptz
)
language plpgsql security definer
set search_path = '' as $$
declare
    v_rooms livewell.budget_rooms;
    v_lanes livewell.open_lane[];
    v_found tid[];
    v_chosen livewell.affordable_jobs;
begin
    v_rooms.names := livewell.lock_budgets(array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null));
    granted_at := coalesce(p_now, clock_timestamp());
    v_rooms := livewell.rooms_now(v_rooms.names, granted_at);
    -- A round that chose fewer than it found leaves less room, and the next finds what is smaller behind.
    for v_round in 1..10 loop
        v_lanes := livewell.lanes_within_budget(p_lanes, v_rooms, places);
        exit when v_lanes is null;
        lanes := coalesce(lanes, v_lanes);
        v_found := livewell.lock_jobs(v_lanes, p_max_jobs - coalesce(cardinality(places), 0), places);
        exit when v_found is null;
        v_chosen := livewell.choose_affordable_jobs(v_found, v_lanes, v_rooms);
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
