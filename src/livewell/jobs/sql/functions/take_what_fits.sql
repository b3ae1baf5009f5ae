-- The best jobs that fit, looked for in rounds: one that took fewer than it found leaves less room, and the next finds what is
-- behind, smaller or held by nobody. While viewers wait at an endpoint that groups share, a round is theirs, and what is left
-- over goes to the next. Answers with the room that is left, too.
-- for: internal
create or replace function livewell_private.take_what_fits(
    p_lanes livewell_private.open_lane[], p_max_jobs integer, p_rooms livewell_private.budget_rooms, p_shared boolean
) returns livewell_private.affordable_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_all livewell_private.affordable_jobs;
    v_round livewell_private.affordable_jobs;
    v_lanes livewell_private.open_lane[];
    v_found tid[];
    v_passed tid[];
    v_locked tid[];
    v_has_serial_keys boolean;
    v_wrote_before boolean;
    v_for_viewers boolean;
begin
    v_all.rooms := p_rooms;
    for v_number in 1..10 loop
        v_lanes := livewell_private.lanes_within_budget(p_lanes, v_all.rooms, v_all.places);
        exit when v_lanes is null;
        v_for_viewers := false;
        if exists (select from unnest(v_lanes) as l where l.queue_group <> v_lanes[1].queue_group) then
            v_lanes := livewell_private.viewers_first(v_lanes, v_passed);
            v_for_viewers := exists (select from unnest(v_lanes) as l where l.lowest_priority >= 0);
        end if;
        v_found := (livewell_private.share_out(v_lanes, p_max_jobs - coalesce(cardinality(v_all.places), 0), v_passed)).places;
        exit when v_found is null;
        v_passed := v_passed || v_found;
        v_wrote_before := pg_current_xact_id_if_assigned() is not null;
        select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_locked, v_has_serial_keys
        from (
            select j.ctid, j.serial_key from livewell_private.job_live as j
            where j.ctid = any (v_found) and j.state = 'pending' and j.held is null
            for update skip locked
        ) as j;
        if v_has_serial_keys then
            v_locked := livewell_private.take_serial_turns(v_locked, v_wrote_before);
        end if;
        continue when v_locked is null;
        v_round := livewell_private.choose_affordable_jobs(v_locked, v_lanes, v_all, p_shared);
        v_all.rooms := v_round.rooms;
        v_all.places := v_all.places || v_round.places;
        v_all.keys := v_all.keys || v_round.keys;
        exit when cardinality(v_all.places) >= p_max_jobs;
        exit when not v_for_viewers and (v_round.places is null or cardinality(v_round.places) = cardinality(v_found));
    end loop;
    if array_remove(v_all.keys, null) = '{}' then
        v_all.keys := null;
    end if;
    return v_all;
end $$;
