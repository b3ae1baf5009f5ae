-- Locks the best ready jobs that fit the budgets of their endpoints, and spends for them: requests, tokens and concurrency of
-- endpoint, account and key, bytes of the provider's quota. What does not fit is passed over, not waited for. The budgets are
-- locked first and counted in later statements; the clock is read between, because who waited starts later than it asked.
-- for: internal
create or replace function livewell_private.lock_affordable_jobs(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_now timestamptz, out jobs livewell_private.chosen_job[], out granted_at timestamptz
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_names text[];
    v_providers text[] := array(
        select distinct split_part(l.endpoint, '/', 1) from unnest(p_lanes) as l where l.endpoint is not null
    );
    v_headroom livewell_private.headroom;
    v_choice livewell_private.claim_choice;
begin
    v_names := livewell_private.lock_budgets(array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null));
    granted_at := coalesce(p_now, clock_timestamp());
    v_headroom := livewell_private.headroom_now(
        v_names, v_providers, livewell_private.permits_in_flight(v_providers, granted_at) || livewell_private.jobs_in_flight(v_providers), granted_at
    );
    v_choice := livewell_private.choose_jobs(p_lanes, p_max_jobs, v_headroom);
    jobs := v_choice.jobs;
    if jobs is not null then
        perform livewell_private.spend_budgets(v_headroom, v_choice.spending, granted_at);
    end if;
    if coalesce(cardinality(jobs), 0) < p_max_jobs then
        perform livewell_private.close_endpoints(p_lanes, v_choice.headroom, v_choice.spending, granted_at);
    end if;
end $$;
