-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.choose_in_round(p_lanes livewell.open_lane[], p_max_jobs integer, p_passed tid[], p_taken livewell.chosen_job[], p_headroom livewell.headroom, OUT looked_at tid[], OUT passed tid[], OUT jobs livewell.chosen_job[], OUT spending livewell.spending[], OUT headroom livewell.headroom)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_locked tid[];
    v_has_serial_keys boolean;
    v_serial_keys constant text[] := case when p_taken is not null then array(
        select j.serial_key from livewell.job_live as j
        where j.ctid = any (array(select t.place from unnest(p_taken) as t)) and j.serial_key is not null
    ) end;
begin
    headroom := p_headroom;
    looked_at := (livewell.share_out(p_lanes, p_max_jobs, p_passed)).places;
    passed := looked_at;
    select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_locked, v_has_serial_keys
    from (
        select j.ctid, j.serial_key from livewell.job_live as j
        where j.ctid = any (looked_at) and j.state = 'pending' and j.waiting_for is null
            and (j.serial_key is null or v_serial_keys is null or j.serial_key <> all (v_serial_keys))
        for update skip locked
    ) as j;
    if v_has_serial_keys then
        -- The locks of the budgets are written by now.
        v_locked := livewell.take_serial_turns(v_locked, true);
    end if;
    if v_locked is null then
        return;
    end if;
    jobs := livewell.jobs_at(v_locked, p_lanes);
    if p_headroom.has_keys or exists (select from unnest(p_lanes) as l where l.jobs_per_request > 1) then
        jobs := livewell.plan_requests(jobs, p_lanes, p_taken, p_headroom.limits);
    end if;
    spending := livewell.spending_of(jobs, p_lanes);
    headroom := livewell.headroom_after(p_headroom, spending);
    if exists (select from unnest(headroom.limits) as l where l.requests < 0 or l.tokens < 0)
        or exists (select from unnest(headroom.quotas) as q where q.bytes < 0) then
        jobs := livewell.jobs_that_fit(jobs, p_lanes, p_headroom);
        spending := livewell.spending_of(jobs, p_lanes);
        headroom := livewell.headroom_after(p_headroom, spending);
    end if;
    -- The first look may find what is too large; a later one leaves that out, and if nothing fits then, it is passed over.
    if cardinality(jobs) < cardinality(v_locked) or (jobs is null and p_passed is null) then
        passed := array(
            select p.place from unnest(looked_at) as p (place)
            where p.place <> all (v_locked) or p.place in (select j.place from unnest(jobs) as j)
        );
    end if;
end $function$;
