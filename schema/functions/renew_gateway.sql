-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.renew_gateway(p_gateway text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    update livewell.gateway as g set last_seen = greatest(g.last_seen, p_now)
    where g.name = p_gateway and g.last_seen > p_now - livewell.setting_interval('presence.gone_after');
    return found;
end $function$;

grant execute on function livewell.renew_gateway(text,timestamp with time zone) to livewell_service;
