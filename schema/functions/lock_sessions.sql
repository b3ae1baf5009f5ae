-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_sessions(p_ids uuid[], p_now timestamp with time zone)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    perform from livewell.session as s where s.id = any (p_ids) order by s.id for update;
    return array[]::uuid[];
exception when lock_not_available then
    return livewell.lock_free_sessions(p_ids, p_now);
end $function$;
