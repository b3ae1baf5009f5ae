-- Locks items in the order of their ids, and answers with those that somebody else has for longer than a moment: they are not waited for,
-- but noted and reported. A stranger's open transaction keeps one item from us, and nothing else.
-- for: internal
create or replace function livewell_private.lock_items(p_item_ids bigint[], p_now timestamptz) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    perform from livewell_private.item as i where i.id = any (p_item_ids) order by i.id for no key update;
    return array[]::bigint[];
exception when lock_not_available then
    return livewell_private.lock_free_items(p_item_ids, p_now);
end $$;
