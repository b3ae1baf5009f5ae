-- The checker's task: makes due what others had locked and is free, folds what was learned, sets the price of a byte, and checks what is due.
-- for: internal
create or replace function livewell.task_check(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    perform livewell.require_primary();
    perform livewell.make_freed_items_due(p_now);
    perform livewell.fold_learning();
    perform livewell.price_bytes(p_now);
    return livewell.check_due(p_now);
end $$;
