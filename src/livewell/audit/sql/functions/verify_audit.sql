-- Everything that is wrong with the audit log, in portions of bounded memory; no row when nothing is. Give it a head kept
-- elsewhere (number and hash of a seal): without one, a tail cut off together with its seals cannot be proved.
-- for: service
create or replace function livewell.verify_audit(
    p_head_number bigint default null, p_head_hash bytea default null
) returns table (problem text, seal bigint, entry_id bigint, detail text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_after bigint := 0;
    v_upto bigint;
    v_high_water bigint := (livewell_private.last_audit_seal()).high_water;
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
$$;
