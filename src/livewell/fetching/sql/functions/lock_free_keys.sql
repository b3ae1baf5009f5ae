-- Locks the rows of some keys that nobody else has at this moment, and answers with the keys that have others. All of them, when the
-- table itself is locked; a key that somebody is adding in a transaction that is open shows no row, and is not found here.
-- for: internal
create or replace function livewell_private.lock_free_keys(p_storing livewell_private.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
begin
    perform livewell_private.require_foreign('lock_free_foreign_rows');
    return livewell_private.lock_free_foreign_rows(livewell_private.locking_query(p_storing, true), livewell_private.busy_keys_query(p_storing), p_keys);
exception when lock_not_available then
    return p_keys;
end $$;
