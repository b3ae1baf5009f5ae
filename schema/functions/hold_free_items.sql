-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.hold_free_items(p_item_ids bigint[], p_now timestamp with time zone)
 RETURNS bigint[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_free constant bigint[] := array(
        select i.id from livewell.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    );
    v_busy bigint[] := array[]::bigint[];
    v_type record;
begin
    for v_type in
        select i.data_type, array_agg(i.id) as ids, array_agg(i.key) as keys, array_agg(i.xmax) as transactions
        from livewell.item as i
        where i.id = any (p_item_ids) and i.id <> all (v_free)
        group by i.data_type
    loop
        perform livewell.note_locked_rows(
            'freshness.item_held', v_type.data_type, 'livewell.item', v_type.ids::text[], v_type.keys, v_type.transactions, p_now
        );
        v_busy := v_busy || v_type.ids;
    end loop;
    return v_busy;
end $function$;
