-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refresh_hold(p_type text, p_endpoint text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(reason text, until timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if livewell.setting_boolean('maintenance.enabled') then
        return query select 'maintenance: workers claim nothing', null::timestamptz;
        return;
    end if;
    return query
    select format('jobs of %s are paused: %s', k.kind, coalesce(k.paused_reason, 'no reason given')), nullif(k.paused_until, 'infinity')
    from livewell.job_kind as k where k.kind = 'refresh.' || p_type and k.paused_until > p_now;
    if not found then
        return query select h.reason, h.until from livewell.why_endpoint_waits(p_endpoint, p_now) as h;
    end if;
    if not found and not exists (select from livewell.worker as w where 'refresh.' || p_type = any (w.kinds)) then
        return query select format('no worker runs refreshes of %s', p_type), null::timestamptz;
    end if;
end $function$;

grant execute on function livewell.refresh_hold(text,text,timestamp with time zone) to livewell_service;
