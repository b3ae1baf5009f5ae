-- The end of the chain without its digests; before the first seal, a seal number 0 whose hash is all zeros.
-- for: internal
create or replace function livewell_private.last_audit_seal() returns livewell_private.audit_seal
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_seal livewell_private.audit_seal;
begin
    select s.number, s.high_water, s.open_ids, s.hash, s.sealed_at
    into v_seal.number, v_seal.high_water, v_seal.open_ids, v_seal.hash, v_seal.sealed_at
    from livewell_private.audit_seal s
    order by s.number desc
    limit 1;
    if not found then
        v_seal.number := 0;
        v_seal.high_water := 0;
        v_seal.open_ids := '{}';
        v_seal.hash := decode(repeat('00', 32), 'hex');
    end if;
    return v_seal;
end
$$;
