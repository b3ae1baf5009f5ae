-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.pause_kind(p_kind text, p_until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
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
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be paused until %s', p_kind, p_until),
            hint = 'name a time to come, or leave it out to pause until resumed';
    end if;
    select k.paused_until into v_old from livewell.job_kind as k where k.kind = p_kind for update;
    if not found then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    update livewell.job_kind as k set paused_until = p_until, paused_reason = p_reason, updated_at = p_now
    where k.kind = p_kind;
    perform livewell.audit_change(
        'kind_paused', 'job_kind', p_kind, jsonb_build_object('paused_until', v_old), jsonb_build_object('paused_until', p_until),
        p_reason, p_actor, p_now
    );
end $function$;

grant execute on function livewell.pause_kind(text,timestamp with time zone,text,text,timestamp with time zone) to livewell_service;
