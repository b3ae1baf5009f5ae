-- The best jobs that fit some headroom, locked, what they cost and what they leave of it. Looks for them in rounds: one that took
-- fewer than it found leaves less, and the next finds what is behind, smaller or locked by nobody. While viewers wait at an endpoint that
-- groups share, a round is theirs, and what is left over goes to the next. At last the free slots of requests are filled, also
-- beyond the number that was asked for, because a slot left empty is a request that somebody else will miss.
-- for: internal
create or replace function livewell_private.choose_jobs(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_headroom livewell_private.headroom
) returns livewell_private.claim_choice
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_lanes livewell_private.open_lane[];
    v_choice livewell_private.claim_choice;
    v_round livewell_private.claim_choice;
    v_for_viewers boolean;
begin
    v_choice.headroom := p_headroom;
    for v_number in 1..10 loop
        v_lanes := livewell_private.lanes_within_budget(p_lanes, v_choice.headroom, v_choice.jobs);
        exit when v_lanes is null;
        v_for_viewers := false;
        if exists (select from unnest(v_lanes) as l where l.queue_group <> v_lanes[1].queue_group) then
            v_lanes := livewell_private.viewers_first(v_lanes, v_choice.passed);
            v_for_viewers := exists (select from unnest(v_lanes) as l where (l.allowance).lowest_priority >= 0);
        end if;
        v_round := livewell_private.choose_in_round(
            v_lanes, p_max_jobs - coalesce(cardinality(v_choice.jobs), 0), v_choice.passed, v_choice.jobs, v_choice.headroom
        );
        exit when v_round.looked_at is null;
        v_choice.passed := v_choice.passed || v_round.passed;
        v_choice.jobs := v_choice.jobs || v_round.jobs;
        v_choice.spending := v_choice.spending || v_round.spending;
        v_choice.headroom := v_round.headroom;
        exit when cardinality(v_choice.jobs) >= p_max_jobs;
        exit when not v_for_viewers and cardinality(v_round.jobs) = cardinality(v_round.looked_at);
    end loop;
    if v_choice.jobs is not null and exists (select from unnest(p_lanes) as l where l.jobs_per_request > 1) then
        v_lanes := livewell_private.lanes_with_free_slots(livewell_private.lanes_within_budget(p_lanes, v_choice.headroom, v_choice.jobs));
        if v_lanes is not null then
            v_round := livewell_private.choose_in_round(
                v_lanes, (select sum((l.allowance).free_slots)::integer from unnest(v_lanes) as l), v_choice.passed, v_choice.jobs,
                v_choice.headroom
            );
            -- All that were found or none: what does not fit together is left to the next claim.
            if v_round.passed = v_round.looked_at then
                v_choice.jobs := v_choice.jobs || v_round.jobs;
                v_choice.spending := v_choice.spending || v_round.spending;
                v_choice.headroom := v_round.headroom;
            end if;
        end if;
    end if;
    return v_choice;
end $$;
