-- The checker's task: makes due what others had locked and is free, folds what was learned, sets the price of a byte, and checks what is due.
-- for: internal
create or replace function livewell_private.task_check(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    perform livewell_private.require_primary();
    perform livewell_private.make_freed_items_due(p_now);
    perform livewell_private.fold_learning();
    perform livewell_private.price_bytes(p_now);
    return livewell_private.check_due(p_now);
end $$;
