-- Locks the rows of some keys in the one order everybody takes them in. A key that the column cannot hold has no rows; a table that
-- refuses to be locked is told so when it refuses to be stored in.
-- for: internal
create or replace function livewell.lock_keys(p_storing livewell.storing, p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.require_foreign('lock_foreign_rows');
    perform livewell.lock_foreign_rows(livewell.locking_query(p_storing), p_keys);
exception
    when data_exception or raise_exception or syntax_error_or_access_rule_violation or feature_not_supported then
        return;
end $$;
