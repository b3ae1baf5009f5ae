-- The task that drops figures older than `freshness.figures_retention`.
-- for: internal
create or replace function livewell_private.task_freshness_retention(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_dropped bigint;
begin
    perform livewell_private.require_primary();
    delete from livewell_private.freshness_hour as h where h.hour < p_now - livewell.setting_interval('freshness.figures_retention');
    get diagnostics v_dropped = row_count;
    return jsonb_build_object('dropped', v_dropped);
end $$;
