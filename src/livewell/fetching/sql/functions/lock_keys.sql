-- Locks the rows of some keys in the one order everybody takes them in, and answers with the keys whose rows somebody else has for
-- longer than a moment. A key that the column cannot hold has no rows; a table that refuses to be locked is told so when it refuses to
-- be stored in.
-- for: internal
create or replace function livewell_private.lock_keys(p_storing livewell_private.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
begin
    perform livewell_private.require_foreign('lock_foreign_rows');
    perform livewell_private.lock_foreign_rows(livewell_private.locking_query(p_storing), p_keys);
    return array[]::text[];
exception
    when data_exception or raise_exception or syntax_error_or_access_rule_violation or feature_not_supported then
        return array[]::text[];
    when lock_not_available then
        return livewell_private.lock_free_keys(p_storing, p_keys);
end $$;
