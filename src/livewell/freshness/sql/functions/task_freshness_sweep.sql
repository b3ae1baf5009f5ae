-- The slow sweep's task: so many items a minute that everything watched is reached within `freshness.sweep_every`; and refreshes
-- that nobody waits for any more are let go.
-- for: internal
create or replace function livewell_private.task_freshness_sweep(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_runs constant double precision := greatest(
        1, extract(epoch from livewell.setting_interval('freshness.sweep_every')) / 60
    );
begin
    perform livewell_private.require_primary();
    perform livewell_private.let_refreshes_go(livewell_private.unwatched_refreshes(1000, p_now), p_now);
    return livewell_private.sweep_items((
        select greatest(100, ceil(count(*) / v_runs))::integer from livewell_private.item as i where i.watched
    ), p_now);
end $$;
