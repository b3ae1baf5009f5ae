-- Locks the rows of some keys in the one order everybody takes them in. A key that the column cannot hold has no rows.
-- for: internal
create or replace function livewell.lock_keys(p_storing livewell.storing, p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.lock_foreign_rows(livewell.locking_query(p_storing), p_keys);
exception when data_exception then
    return;
end $$;
