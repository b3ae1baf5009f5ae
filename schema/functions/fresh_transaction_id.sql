-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.fresh_transaction_id()
 RETURNS xid8
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_own bigint;
    v_drawn bigint;
begin
    if pg_current_xact_id_if_assigned() is null then
        return pg_current_xact_id();
    end if;
    v_own := pg_current_xact_id()::text::bigint;
    begin
        insert into livewell.audit_ceiling as c (alone) values (true)
        on conflict (alone) do update set draws = c.draws + 1
        returning c.xmin::text::bigint into v_drawn;
    -- A block that catches something is a subtransaction.
    exception when assert_failure then
        raise;
    end;
    -- A row shows the lower half of the id; a subtransaction's is above its transaction's, if need be in the next epoch.
    v_drawn := ((v_own >> 32) << 32) + v_drawn;
    return (v_drawn + case when v_drawn < v_own then 1::bigint << 32 else 0 end)::text::xid8;
end $function$;
