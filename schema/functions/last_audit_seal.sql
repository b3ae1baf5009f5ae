-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.last_audit_seal()
 RETURNS livewell.audit_seal
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_seal livewell.audit_seal;
begin
    select s.number, s.high_water, s.open_ids, s.hash, s.sealed_at
    into v_seal.number, v_seal.high_water, v_seal.open_ids, v_seal.hash, v_seal.sealed_at
    from livewell.audit_seal s
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
$function$;
