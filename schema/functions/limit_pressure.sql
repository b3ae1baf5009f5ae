-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.limit_pressure(p_endpoint text, p_now timestamp with time zone)
 RETURNS double precision
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    return (
        select coalesce(max(greatest(
            (l.requests_per_minute - r.requests) / l.requests_per_minute::double precision,
            (l.tokens_per_minute - r.tokens) / l.tokens_per_minute::double precision,
            case when r.requests = 0 then 1 end
        )), 0)
        from livewell.limit_rooms(
            array[p_endpoint, split_part(p_endpoint, '/', 1)], livewell.flights(array[split_part(p_endpoint, '/', 1)], p_now), p_now
        ) as r
        join livewell.limits as l on l.name = r.name
    );
end $function$;
