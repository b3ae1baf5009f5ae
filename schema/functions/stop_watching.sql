-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.stop_watching(p_session uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_there boolean;
begin
    perform livewell.require_primary();
    perform livewell.require_own_session(p_session, livewell.current_user_id());
    v_there := exists (select from livewell.session as s where s.id = p_session);
    perform livewell.close_sessions(array[p_session], clock_timestamp());
    return v_there;
end $function$;

grant execute on function livewell.stop_watching(uuid) to livewell_user;
