-- Of lanes, those with free slots in requests that a claim has begun, for what fills these and begins no other; null when there is none.
-- for: internal
create or replace function livewell_private.lanes_with_free_slots(p_lanes livewell_private.open_lane[]) returns livewell_private.open_lane[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_lane livewell_private.open_lane;
    v_lanes livewell_private.open_lane[];
begin
    foreach v_lane in array coalesce(p_lanes, '{}') loop
        if (v_lane.allowance).free_slots > 0 then
            v_lane.allowance.requests := 0;
            v_lanes := v_lanes || v_lane;
        end if;
    end loop;
    return v_lanes;
end $$;
