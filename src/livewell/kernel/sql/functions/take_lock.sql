-- Takes a named lock until the transaction ends, waiting for who has it.
-- for: internal
create or replace function livewell_private.take_lock(p_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform from livewell_private.named_lock as l where l.name = p_name for update;
    if not found then
        raise exception using errcode = 'no_data_found', message = format('there is no lock %s', p_name);
    end if;
end $$;
