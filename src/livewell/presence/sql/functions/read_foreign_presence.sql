-- Reads who looks at what from a user's table, view or function, with the rights of a role that has nothing of Livewell's, and takes
-- back whatever else the reading did.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.read_foreign_presence(p_query text, out users text[], out types text[], out keys text[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_read boolean := false;
begin
    execute p_query into users, types, keys;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
end $$;
