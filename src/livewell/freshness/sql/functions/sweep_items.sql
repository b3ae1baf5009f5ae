-- Looks at everything watched, a slice at a time in the order of ids, whatever it is due: what nobody told us (a changed row, a
-- foreign write, a drifted due time) is found within one sweep.
-- for: internal
create or replace function livewell_private.sweep_items(p_slice integer, p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ids bigint[];
    v_reached bigint;
    v_moved bigint;
begin
    insert into livewell_private.freshness_walk (name, begun_at, due_at) values ('sweep', p_now, p_now) on conflict do nothing;
    select w.reached::bigint into v_reached from livewell_private.freshness_walk as w where w.name = 'sweep' for update;
    v_ids := array(
        select i.id from livewell_private.item as i
        where i.id > coalesce(v_reached, 0) and i.watched
        order by i.id limit p_slice
    );
    -- Who waits for a refresh, or because one failed, is not asked again: the time is set.
    update livewell_private.item as i set due_at = p_now
    where i.id = any (array(
        select n.id from livewell_private.item as n
        where n.id = any (v_ids) and n.due_at > p_now and n.decision is distinct from 'queued'
            and not (n.failed_refreshes > 0 and n.decision is not distinct from 'refresh_failed')
        order by n.id for no key update skip locked
    ));
    get diagnostics v_moved = row_count;
    update livewell_private.freshness_walk as w
    set reached = case when cardinality(v_ids) < p_slice then null else v_ids[p_slice]::text end,
        begun_at = case when w.reached is null then p_now else w.begun_at end
    where w.name = 'sweep';
    return case when v_moved > 0 then jsonb_build_object('checked_again', v_moved) end;
end $$;
