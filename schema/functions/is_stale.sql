-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_stale(p_fetched_at timestamp with time zone, p_ttl interval, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_ttl is null or p_ttl <= interval '0' then
        raise exception using errcode = 'LWR02', message = format('a TTL is a positive time, not %s', coalesce(p_ttl::text, 'null')),
            hint = 'set it in the registry, or in the row that overrides it';
    end if;
    return p_fetched_at is null or p_fetched_at + p_ttl <= p_now;
end $function$;

grant execute on function livewell.is_stale(timestamp with time zone,interval,timestamp with time zone) to livewell_service;
