-- Locks the rows of some keys that nobody else has at this moment, and answers with the keys that have others. All of them, when the
-- table itself is locked; a key that somebody is adding in a transaction that is open shows no row, and is not found here.
-- for: internal
create or replace function livewell.lock_free_keys(p_storing livewell.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
begin
    perform livewell.require_foreign('lock_free_foreign_rows');
    return livewell.lock_free_foreign_rows(livewell.locking_query(p_storing, true), livewell.busy_keys_query(p_storing), p_keys);
exception when lock_not_available then
    return p_keys;
end $$;
