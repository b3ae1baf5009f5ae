-- Locks the rows of some keys in the one order everybody takes them in, and answers with the keys whose rows somebody else has for
-- longer than a moment. A key that the column cannot hold has no rows.
-- for: internal
create or replace function livewell.lock_keys(p_storing livewell.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
begin
    execute livewell.locking_query(p_storing) using p_keys;
    return array[]::text[];
exception
    when data_exception then
        return array[]::text[];
    when lock_not_available then
        return livewell.held_keys(p_storing, p_keys);
end $$;
