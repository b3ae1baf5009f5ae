-- Locks rows of a user's table, with the rights of a role that has nothing of Livewell's. $1 keys.
-- for: internal
-- runs as: livewell_writer
create or replace function livewell_private.lock_foreign_rows(p_query text, p_keys text[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    execute p_query using p_keys;
end $$;
