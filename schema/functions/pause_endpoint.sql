-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.pause_endpoint(p_name text, p_until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_old timestamptz;
begin
    perform livewell.require_primary();
    if p_until is null or p_until <= p_now then
        raise exception using errcode = 'LWB03', message = format('endpoint %s cannot be paused until %s', p_name, p_until),
            hint = 'name a time to come, or leave it out to pause until resumed';
    end if;
    v_old := (livewell.lock_limit(p_name)).closed_until;
    update livewell.limit_use as u set
        closed_until = p_until, closed_reason = coalesce(p_reason, 'paused'),
        next_allowed_at = p_until
    where u.name = p_name;
    perform livewell.audit_change(
        'endpoint_paused', 'endpoint', p_name, jsonb_build_object('closed_until', v_old), jsonb_build_object('closed_until', p_until),
        p_reason, p_actor, p_now
    );
end $function$;

grant execute on function livewell.pause_endpoint(text,timestamp with time zone,text,text,timestamp with time zone) to livewell_service;
