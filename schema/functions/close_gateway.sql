-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.close_gateway(p_gateway text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    update livewell.gateway as g set last_seen = '-infinity' where g.name = p_gateway;
    perform livewell.drop_sessions(livewell.give_up_gateway(p_gateway, '-infinity', 1000), p_now);
    perform livewell.remove_gateways(array[p_gateway]);
    return (select count(*) from livewell.session as s where s.gateway = p_gateway);
end $function$;

grant execute on function livewell.close_gateway(text,timestamp with time zone) to livewell_service;
