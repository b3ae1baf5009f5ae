-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.close_sessions(p_ids uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    perform livewell.require_primary();
    return livewell.drop_sessions(array(
        select s.id from livewell.session as s where s.id = any (p_ids) order by s.id for update
    ), p_now);
end $function$;

grant execute on function livewell.close_sessions(uuid[],timestamp with time zone) to livewell_service;
