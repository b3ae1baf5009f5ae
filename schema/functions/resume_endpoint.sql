-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.resume_endpoint(p_name text, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_old timestamptz;
begin
    perform livewell.require_primary();
    v_old := (livewell.lock_limit(p_name)).closed_until;
    if v_old <= p_now then
        return false;
    end if;
    update livewell.limit_use as u set closed_until = '-infinity', closed_reason = null where u.name = p_name;
    perform livewell.reopen_limits(array[p_name]);
    perform livewell.audit_change(
        'endpoint_resumed', 'endpoint', p_name, jsonb_build_object('closed_until', v_old), jsonb_build_object('closed_until', null),
        p_reason, p_actor, p_now
    );
    return true;
end $function$;

grant execute on function livewell.resume_endpoint(text,text,text,timestamp with time zone) to livewell_service;
