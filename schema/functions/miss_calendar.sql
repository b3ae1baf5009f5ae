-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.miss_calendar(p_exchange text, p_reason text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    perform livewell.warn('registry.calendar_missing', left(p_exchange, 100), p_reason, p_now);
end $function$;

grant execute on function livewell.miss_calendar(text,text,timestamp with time zone) to livewell_service;
