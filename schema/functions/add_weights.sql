-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.add_weights(p_one double precision[], p_other double precision[])
 RETURNS double precision[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return array(
        select coalesce(w.one, 0) + coalesce(w.other, 0) from unnest(p_one, p_other) with ordinality as w (one, other, at) order by w.at
    );
end $function$;
