-- Locks the rows of some keys that nobody else has at this moment, and answers with the keys that have others. All of them, when the
-- table itself is locked; a key that somebody is adding in a transaction that is open shows no row, and is not found here.
-- for: internal
create or replace function livewell.held_keys(p_storing livewell.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
declare
    v_free tid[];
    v_held text[];
begin
    execute livewell.locking_query(p_storing, true) into v_free using p_keys;
    execute livewell.held_query(p_storing) into v_held using p_keys, v_free;
    return v_held;
exception when lock_not_available then
    return p_keys;
end $$;
