-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_check(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    perform livewell.require_primary();
    perform livewell.make_freed_items_due(p_now);
    perform livewell.fold_learning();
    perform livewell.price_bytes(p_now);
    return livewell.check_due(p_now);
end $function$;
