-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.wait_quantile(p_weights double precision[], p_share double precision)
 RETURNS double precision
 LANGUAGE plpgsql
 IMMUTABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select (livewell.wait_steps()) [s.at]
        from (
            select w.at, sum(w.weight) over (order by w.at) as reached, sum(w.weight) over () as whole
            from unnest(p_weights) with ordinality as w (weight, at)
        ) as s
        where s.whole > 0 and s.reached >= p_share * s.whole
        order by s.at
        limit 1
    );
end $function$;

grant execute on function livewell.wait_quantile(double precision[],double precision) to livewell_service;
