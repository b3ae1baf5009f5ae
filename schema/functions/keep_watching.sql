-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.keep_watching(p_session uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    perform livewell.require_own_session(p_session, livewell.current_user_id());
    return (livewell.renew_sessions(array[p_session], clock_timestamp()))[1] <> 'gone';
end $function$;

grant execute on function livewell.keep_watching(uuid) to livewell_user;
