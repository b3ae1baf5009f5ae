-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_affordable_jobs(p_lanes livewell.open_lane[], p_max_jobs integer, p_now timestamp with time zone, OUT jobs livewell.chosen_job[], OUT granted_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_names text[];
    v_providers text[] := array(
        select distinct split_part(l.endpoint, '/', 1) from unnest(p_lanes) as l where l.endpoint is not null
    );
    v_headroom livewell.headroom;
    v_chosen record;
begin
    v_names := livewell.lock_budgets(array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null));
    granted_at := coalesce(p_now, clock_timestamp());
    v_headroom := livewell.headroom_now(
        v_names, v_providers, livewell.permits_in_flight(v_providers, granted_at) || livewell.jobs_in_flight(v_providers), granted_at
    );
    select c.* into v_chosen from livewell.choose_jobs(p_lanes, p_max_jobs, v_headroom) as c;
    jobs := v_chosen.jobs;
    if jobs is not null then
        perform livewell.spend_budgets(v_headroom, v_chosen.spending, granted_at);
    end if;
    if coalesce(cardinality(jobs), 0) < p_max_jobs then
        perform livewell.close_endpoints(p_lanes, v_chosen.headroom, v_chosen.spending, granted_at);
    end if;
end $function$;
