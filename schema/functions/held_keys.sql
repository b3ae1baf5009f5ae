-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.held_keys(p_storing livewell.storing, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_free tid[];
    v_held text[];
begin
    execute livewell.locking_query(p_storing, true) into v_free using p_keys;
    execute livewell.held_query(p_storing) into v_held using p_keys, v_free;
    return v_held;
exception when lock_not_available then
    return p_keys;
end $function$;
