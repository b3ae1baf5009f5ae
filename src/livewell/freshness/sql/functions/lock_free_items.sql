-- Locks those items that nobody else has at this moment; notes the others, and answers with them.
-- for: internal
create or replace function livewell_private.lock_free_items(p_item_ids bigint[], p_now timestamptz) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_free constant bigint[] := array(
        select i.id from livewell_private.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    );
    v_busy bigint[] := array[]::bigint[];
    v_type record;
begin
    for v_type in
        select i.data_type, array_agg(i.id) as ids, array_agg(i.key) as keys, array_agg(i.xmax) as transactions
        from livewell_private.item as i
        where i.id = any (p_item_ids) and i.id <> all (v_free)
        group by i.data_type
    loop
        perform livewell_private.note_locked_rows(
            'freshness.item_held', v_type.data_type, 'livewell_private.item', v_type.ids::text[], v_type.keys, v_type.transactions, p_now
        );
        v_busy := v_busy || v_type.ids;
    end loop;
    return v_busy;
end $$;
