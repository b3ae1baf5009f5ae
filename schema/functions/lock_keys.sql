-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_keys(p_storing livewell.storing, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    execute livewell.locking_query(p_storing) using p_keys;
    return array[]::text[];
exception
    when data_exception then
        return array[]::text[];
    when lock_not_available then
        return livewell.held_keys(p_storing, p_keys);
end $function$;
