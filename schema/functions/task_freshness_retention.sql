-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_freshness_retention(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_dropped bigint;
begin
    perform livewell.require_primary();
    delete from livewell.freshness_hour as h where h.hour < p_now - livewell.setting_interval('freshness.figures_retention');
    get diagnostics v_dropped = row_count;
    return jsonb_build_object('dropped', v_dropped);
end $function$;
