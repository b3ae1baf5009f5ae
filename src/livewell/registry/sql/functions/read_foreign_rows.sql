-- Reads the rows of some keys from a user's table, with the rights of a role that has nothing of Livewell's, and takes back whatever
-- else the reading did. $1 keys, $2 how many rows of each at most.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.read_foreign_rows(
    p_query text, p_keys text[], p_most bigint, out keys text[], out stored jsonb[], out fetched_at timestamptz[]
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_read boolean := false;
begin
    execute p_query into keys, stored, fetched_at using p_keys, p_most;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
end $$;
