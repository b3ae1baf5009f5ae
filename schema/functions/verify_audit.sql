-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.verify_audit(p_head_number bigint DEFAULT NULL::bigint, p_head_hash bytea DEFAULT NULL::bytea)
 RETURNS TABLE(problem text, seal bigint, entry_id bigint, detail text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_after bigint := 0;
    v_upto bigint;
    v_high_water bigint := (livewell.last_audit_seal()).high_water;
begin
    return query select * from livewell.verify_audit_guards();
    return query select * from livewell.verify_audit_head(p_head_number, p_head_hash);
    loop
        v_upto := livewell.next_audit_seals(v_after);
        exit when v_upto is null;
        return query select * from livewell.verify_audit_seals(v_after, v_upto);
        v_after := v_upto;
    end loop;
    for v_after in select generate_series(0, v_high_water - 1, 20000) loop
        return query select * from livewell.verify_audit_entries(v_after, v_after + 20000);
    end loop;
end
$function$;

grant execute on function livewell.verify_audit(bigint,bytea) to livewell_service;
