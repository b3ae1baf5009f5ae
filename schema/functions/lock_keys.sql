-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_keys(p_storing livewell.storing, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
AS $function$
begin
    perform livewell.require_foreign('lock_foreign_rows');
    perform livewell.lock_foreign_rows(livewell.locking_query(p_storing), p_keys);
    return array[]::text[];
exception
    when data_exception or raise_exception or syntax_error_or_access_rule_violation or feature_not_supported then
        return array[]::text[];
    when lock_not_available then
        return livewell.lock_free_keys(p_storing, p_keys);
end $function$;
