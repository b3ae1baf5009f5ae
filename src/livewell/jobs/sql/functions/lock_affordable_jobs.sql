-- Locks the best ready jobs that fit the budgets of their endpoints, and spends for them: requests, tokens and concurrency of
-- endpoint, account and key, bytes of the provider's quota. Jobs whose kind shares requests are taken in bundles, of which each
-- costs one. What does not fit is passed over, not waited for. The budgets are
-- locked first and counted in later statements; the clock is read between, because who waited starts later than it asked.
-- for: internal
create or replace function livewell_private.lock_affordable_jobs(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_now timestamptz, out places tid[], out keys text[],
    out bundles bigint[], out rides boolean[], out lane_ids integer[], out call_bytes bigint[], out send_within double precision[], out granted_at timestamptz
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_names text[];
    v_rooms livewell_private.budget_rooms;
    v_lanes livewell_private.open_lane[];
    v_chosen livewell_private.affordable_jobs;
    v_shared constant boolean := exists (select from unnest(p_lanes) as l where l.per_request > 1);
begin
    v_names := livewell_private.lock_budgets(array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null));
    granted_at := coalesce(p_now, clock_timestamp());
    v_rooms := livewell_private.rooms_now(v_names, granted_at);
    v_lanes := livewell_private.lanes_within_budget(p_lanes, v_rooms, null);
    select array_agg(l.lane_id), array_agg(l.call_bytes), array_agg(extract(epoch from e.send_within)::double precision)
    into lane_ids, call_bytes, send_within
    from unnest(v_lanes) as l left join livewell_private.endpoint as e on e.name = l.endpoint;
    if v_lanes is not null then
        v_chosen := livewell_private.take_all_that_fit(v_lanes, p_max_jobs, v_rooms, v_shared);
        if v_chosen.places is null then
            v_chosen := livewell_private.take_what_fits(p_lanes, p_max_jobs, v_rooms, v_shared);
        end if;
        if v_shared and v_chosen.places is not null then
            v_chosen := livewell_private.fill_requests(v_chosen, v_lanes);
            select b.bundles, b.rides into bundles, rides
            from livewell_private.bundle_jobs(v_chosen.places, v_chosen.keys, v_lanes) as b;
        end if;
        v_rooms := v_chosen.rooms;
        places := v_chosen.places;
        keys := v_chosen.keys;
    end if;
    if places is not null then
        perform livewell_private.spend_budgets(v_rooms, case
            when rides is null then keys
            else array(select c.key from unnest(keys, rides) as c (key, rides) where c.rides is not true)
        end, granted_at);
    end if;
    if coalesce(cardinality(places), 0) < p_max_jobs then
        perform livewell_private.close_endpoints(p_lanes, v_rooms, granted_at);
    end if;
end $$;
