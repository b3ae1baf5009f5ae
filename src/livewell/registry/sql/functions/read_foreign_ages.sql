-- Reads from a user's table when some keys were fetched and their own TTLs, with the rights of a role that has nothing of Livewell's,
-- and takes back whatever else the reading did. $1 keys.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.read_foreign_ages(
    p_query text, p_keys text[], out keys text[], out newest timestamptz[], out ttls interval[]
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_read boolean := false;
begin
    execute p_query into keys, newest, ttls using p_keys;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
end $$;
