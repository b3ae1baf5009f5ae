-- Locks the best ready jobs of several lanes, or of lanes with serial keys, passing over what rivals hold and what must wait
-- for its serial key; answers with the places of those to take.
-- for: internal
create or replace function livewell_private.lock_jobs(p_lanes livewell_private.open_lane[], p_max_jobs integer)
returns tid[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_counts integer[];
    v_places tid[];
    v_has_serial_keys boolean;
    v_wrote_before boolean;
    v_lane_ids constant integer[] := array(select l.lane_id from unnest(p_lanes) as l);
begin
    -- A round may find only jobs that must wait for their serial key; they are parked, and the next looks past them.
    for v_round in 1..10 loop
        v_counts := case
            when cardinality(p_lanes) = 1 then array[p_lanes[1].max_jobs]
            else (livewell_private.share_out(p_lanes, p_max_jobs)).counts
        end;
        v_wrote_before := pg_current_xact_id_if_assigned() is not null;
        select array_agg(j.ctid), bool_or(j.serial_key is not null) into v_places, v_has_serial_keys
        from unnest(v_lane_ids, v_counts) as l (lane_id, jobs)
        cross join lateral (
            select c.ctid, c.serial_key from livewell_private.job_live as c
            where c.lane_id = l.lane_id and c.state = 'pending' and c.waiting_for is null
            order by c.priority desc, c.due_at, c.id
            limit l.jobs
            for update skip locked
        ) as j;
        exit when v_places is null;
        if v_has_serial_keys then
            v_places := livewell_private.take_serial_turns(v_places, v_wrote_before);
        end if;
        exit when v_places is not null;
    end loop;
    return v_places;
end $$;
