-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.retire_workers(p_worker text DEFAULT NULL::text, p_unseen_for interval DEFAULT '00:05:00'::interval, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    return query
    delete from livewell.worker as w
    where w.id = p_worker or (p_worker is null and w.last_seen < p_now - p_unseen_for)
    returning w.id;
end $function$;

grant execute on function livewell.retire_workers(text,interval,timestamp with time zone) to livewell_service;
