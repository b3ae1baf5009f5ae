-- Takes a named lock until the transaction ends, waiting for who has it.
-- for: internal
create or replace function livewell.take_lock(p_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_name text;
begin
    -- A name that is not there would lock nothing.
    select l.name into strict v_name from livewell.named_lock as l where l.name = p_name for update;
end $$;
