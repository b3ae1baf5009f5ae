-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lanes_with_free_slots(p_lanes livewell.open_lane[])
 RETURNS livewell.open_lane[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_lane livewell.open_lane;
    v_lanes livewell.open_lane[];
begin
    foreach v_lane in array coalesce(p_lanes, '{}') loop
        if (v_lane.allowance).free_slots > 0 then
            v_lane.allowance.requests := 0;
            v_lanes := v_lanes || v_lane;
        end if;
    end loop;
    return v_lanes;
end $function$;
