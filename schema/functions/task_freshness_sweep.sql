-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_freshness_sweep(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_runs constant double precision := greatest(
        1, extract(epoch from livewell.setting_interval('freshness.sweep_every')) / 60
    );
begin
    perform livewell.require_primary();
    perform livewell.let_refreshes_go(livewell.unwatched_refreshes(1000, p_now), p_now);
    return livewell.sweep_items((
        select greatest(100, ceil(count(*) / v_runs))::integer from livewell.item as i where i.watched
    ), p_now);
end $function$;
