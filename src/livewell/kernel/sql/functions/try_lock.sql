-- Takes a named lock until the transaction ends, if nobody has it; says whether it did.
-- for: internal
create or replace function livewell_private.try_lock(p_name text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform from livewell_private.named_lock as l where l.name = p_name for update skip locked;
    return found;
end $$;
