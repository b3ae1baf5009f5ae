-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.limit_pressure(p_endpoint text, p_now timestamp with time zone)
 RETURNS double precision
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select coalesce(max(l.used_share), 0)
        from unnest(livewell.limits_now(array[p_endpoint, split_part(p_endpoint, '/', 1)], null, p_now)) as l
    );
end $function$;
