-- Locks the samples of items whose refresh is about to end: before the budgets, which finishing a job locks last of all.
-- for: internal
create or replace function livewell_private.lock_samples(p_item_ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    perform from livewell_private.sample as s where s.item_id = any (p_item_ids) order by s.item_id for update;
end $$;
