-- One round of a claim: the best jobs of some lanes, locked, that fit a headroom beside those taken before, what they cost and what
-- they leave of it. Answers with what was looked at, too, and with what the next round passes over: what rivals have locked or must
-- wait for its serial key. What only did not fit is looked at again if it fits what is left.
-- for: internal
create or replace function livewell_private.choose_in_round(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_passed tid[], p_taken livewell_private.chosen_job[], p_headroom livewell_private.headroom
) returns livewell_private.claim_choice
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_locked tid[];
    v_has_serial_keys boolean;
    v_serial_keys constant text[] := case when p_taken is not null then array(
        select j.serial_key from livewell_private.job_live as j
        where j.ctid = any (array(select t.place from unnest(p_taken) as t)) and j.serial_key is not null
    ) end;
    v_choice livewell_private.claim_choice;
begin
    v_choice.headroom := p_headroom;
    v_choice.looked_at := (livewell_private.share_out(p_lanes, p_max_jobs, p_passed)).places;
    v_choice.passed := v_choice.looked_at;
    select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_locked, v_has_serial_keys
    from (
        select j.ctid, j.serial_key from livewell_private.job_live as j
        where j.ctid = any (v_choice.looked_at) and j.state = 'pending' and j.waiting_for is null
            and (j.serial_key is null or v_serial_keys is null or j.serial_key <> all (v_serial_keys))
        for update skip locked
    ) as j;
    if v_has_serial_keys then
        -- The locks of the budgets are written by now.
        v_locked := livewell_private.take_serial_turns(v_locked, true);
    end if;
    if v_locked is null then
        return v_choice;
    end if;
    v_choice.jobs := livewell_private.jobs_at(v_locked, p_lanes);
    if p_headroom.has_keys or exists (select from unnest(p_lanes) as l where l.jobs_per_request > 1) then
        v_choice.jobs := livewell_private.plan_requests(v_choice.jobs, p_lanes, p_taken, p_headroom.limits);
    end if;
    v_choice.spending := livewell_private.spending_of(v_choice.jobs, p_lanes);
    v_choice.headroom := livewell_private.headroom_after(p_headroom, v_choice.spending);
    if exists (select from unnest((v_choice.headroom).limits) as l where l.requests < 0 or l.tokens < 0)
        or exists (select from unnest((v_choice.headroom).quotas) as q where q.bytes < 0) then
        v_choice.jobs := livewell_private.jobs_that_fit(v_choice.jobs, p_lanes, p_headroom);
        v_choice.spending := livewell_private.spending_of(v_choice.jobs, p_lanes);
        v_choice.headroom := livewell_private.headroom_after(p_headroom, v_choice.spending);
    end if;
    -- The first look may find what is too large; a later one leaves that out, and if nothing fits then, it is passed over.
    if cardinality(v_choice.jobs) < cardinality(v_locked) or (v_choice.jobs is null and p_passed is null) then
        v_choice.passed := array(
            select p.place from unnest(v_choice.looked_at) as p (place)
            where p.place <> all (v_locked) or p.place in (select j.place from unnest(v_choice.jobs) as j)
        );
    end if;
    return v_choice;
end $$;
