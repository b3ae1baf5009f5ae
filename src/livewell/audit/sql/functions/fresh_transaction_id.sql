-- An id that is newer than that of every transaction that has written by now. A transaction that has not written draws its
-- own; one that has, lets a subtransaction of it draw one, which it does when it first writes.
-- for: internal
create or replace function livewell_private.fresh_transaction_id() returns xid8
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_own bigint;
    v_drawn bigint;
begin
    if pg_current_xact_id_if_assigned() is null then
        return pg_current_xact_id();
    end if;
    v_own := pg_current_xact_id()::text::bigint;
    begin
        insert into livewell_private.audit_ceiling as c (alone) values (true)
        on conflict (alone) do update set draws = c.draws + 1
        returning c.xmin::text::bigint into v_drawn;
    -- A block that catches something is a subtransaction.
    exception when assert_failure then
        raise;
    end;
    -- A row shows the lower half of the id; a subtransaction's is above its transaction's, if need be in the next epoch.
    v_drawn := ((v_own >> 32) << 32) + v_drawn;
    return (v_drawn + case when v_drawn < v_own then 1::bigint << 32 else 0 end)::text::xid8;
end $$;
