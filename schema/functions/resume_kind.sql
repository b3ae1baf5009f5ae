-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.resume_kind(p_kind text, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_old timestamptz;
begin
    perform livewell.require_primary();
    select k.paused_until into v_old from livewell.job_kind as k where k.kind = p_kind for update;
    if not found then
        raise exception using errcode = 'LWJ02', message = format('unknown kind %s', p_kind), hint = 'livewell kinds list';
    end if;
    if v_old is null or v_old <= p_now then
        return false;
    end if;
    update livewell.job_kind as k set paused_until = null, paused_reason = null, updated_at = p_now where k.kind = p_kind;
    perform livewell.audit_change(
        'kind_resumed', 'job_kind', p_kind, jsonb_build_object('paused_until', v_old), jsonb_build_object('paused_until', null),
        p_reason, p_actor, p_now
    );
    perform livewell.wake_workers(array[p_kind]);
    return true;
end $function$;

grant execute on function livewell.resume_kind(text,text,text,timestamp with time zone) to livewell_service;
