-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_free_keys(p_storing livewell.storing, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
AS $function$
begin
    perform livewell.require_foreign('lock_free_foreign_rows');
    return livewell.lock_free_foreign_rows(livewell.locking_query(p_storing, true), livewell.busy_keys_query(p_storing), p_keys);
exception when lock_not_available then
    return p_keys;
end $function$;
