-- Finds or makes the items of puts and locks them, as a fetch that ends has locked its own. One whose item somebody else has in an open
-- transaction is busy.
-- for: internal
create or replace function livewell_private.lock_puts(p_puts livewell_private.ended_fetch[], p_now timestamptz)
returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_jobs constant bigint[] := array(select p.job from unnest(p_puts) as p);
    v_items bigint[];
    v_busy bigint[];
begin
    v_items := array(
        select m.item_id
        from livewell_private.make_items(
            array(select p.type from unnest(p_puts) as p), array(select p.key from unnest(p_puts) as p), p_now
        ) as m
        order by m.item_position
    );
    v_busy := livewell_private.lock_items(v_items, p_now);
    return array(
        select jsonb_populate_record(p, case
            when i.id is null or i.id = any (v_busy) then jsonb_build_object(
                'outcome', 'busy', 'rows', null, 'reason', 'item_held: ' || livewell_private.who_locked_item(i.id)
            )
            else jsonb_build_object('item', i.id)
        end)
        from unnest(p_puts) as p join unnest(v_jobs, v_items) as i (job, id) on i.job = p.job
        order by p.job
    );
end $$;
