-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.store_free_rows(p_storing livewell.storing, p_ended livewell.ended_fetch[], p_busy text[], p_now timestamp with time zone)
 RETURNS livewell.fetch_verdict[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_free constant livewell.ended_fetch[] := array(
        select e from unnest(p_ended) as e where e.key <> all (p_busy) and cardinality(p_ended) > 1
    );
    v_verdicts livewell.fetch_verdict[] := livewell.set_fetches_aside(p_storing.type, array(
        select e from unnest(p_ended) as e where e.key = any (p_busy) or cardinality(p_ended) = 1
    ), p_now);
begin
    if v_free <> '{}' then
        v_verdicts := v_verdicts || livewell.store_rows(p_storing, v_free, p_now);
    end if;
    return v_verdicts;
end $function$;
