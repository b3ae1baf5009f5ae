-- One round of a claim: the best jobs of some lanes, locked, that fit a headroom beside those taken before, what they cost and what
-- they leave of it. Answers with what was looked at, too, and with what the next round passes over: what rivals have locked or must
-- wait for its serial key. What only did not fit is looked at again if it fits what is left.
-- for: internal
create or replace function livewell_private.choose_in_round(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_passed tid[], p_taken livewell_private.chosen_job[], p_headroom livewell_private.headroom,
    out looked_at tid[], out passed tid[], out jobs livewell_private.chosen_job[], out spending livewell_private.spending[],
    out headroom livewell_private.headroom
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_locked tid[];
    v_has_serial_keys boolean;
    v_serial_keys constant text[] := case when p_taken is not null then array(
        select j.serial_key from livewell_private.job_live as j
        where j.ctid = any (array(select t.place from unnest(p_taken) as t)) and j.serial_key is not null
    ) end;
begin
    headroom := p_headroom;
    looked_at := (livewell_private.share_out(p_lanes, p_max_jobs, p_passed)).places;
    passed := looked_at;
    select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_locked, v_has_serial_keys
    from (
        select j.ctid, j.serial_key from livewell_private.job_live as j
        where j.ctid = any (looked_at) and j.state = 'pending' and j.waiting_for is null
            and (j.serial_key is null or v_serial_keys is null or j.serial_key <> all (v_serial_keys))
        for update skip locked
    ) as j;
    if v_has_serial_keys then
        -- The locks of the budgets are written by now.
        v_locked := livewell_private.take_serial_turns(v_locked, true);
    end if;
    if v_locked is null then
        return;
    end if;
    jobs := livewell_private.jobs_at(v_locked, p_lanes);
    if p_headroom.has_keys or exists (select from unnest(p_lanes) as l where l.jobs_per_request > 1) then
        jobs := livewell_private.plan_requests(jobs, p_lanes, p_taken, p_headroom.limits);
    end if;
    spending := livewell_private.spending_of(jobs, p_lanes);
    headroom := livewell_private.headroom_after(p_headroom, spending);
    if exists (select from unnest(headroom.limits) as l where l.requests < 0 or l.tokens < 0)
        or exists (select from unnest(headroom.quotas) as q where q.bytes < 0) then
        jobs := livewell_private.jobs_that_fit(jobs, p_lanes, p_headroom);
        spending := livewell_private.spending_of(jobs, p_lanes);
        headroom := livewell_private.headroom_after(p_headroom, spending);
    end if;
    -- The first look may find what is too large; a later one leaves that out, and if nothing fits then, it is passed over.
    if cardinality(jobs) < cardinality(v_locked) or (jobs is null and p_passed is null) then
        passed := array(
            select p.place from unnest(looked_at) as p (place)
            where p.place <> all (v_locked) or p.place in (select j.place from unnest(jobs) as j)
        );
    end if;
end $$;
