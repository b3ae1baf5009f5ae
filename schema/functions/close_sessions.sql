-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.close_sessions(p_ids uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_busy uuid[];
begin
    perform livewell.require_primary();
    v_busy := livewell.lock_sessions(p_ids, p_now);
    insert into livewell.session_leaving (session_id) select b.id from unnest(v_busy) as b (id);
    return livewell.drop_sessions(array(select a.id from unnest(p_ids) as a (id) where a.id <> all (v_busy)), p_now);
end $function$;

grant execute on function livewell.close_sessions(uuid[],timestamp with time zone) to livewell_service;
