-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.sweep_items(p_slice integer, p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_ids bigint[];
    v_reached bigint;
    v_moved bigint;
begin
    insert into livewell.freshness_walk (name, begun_at, due_at) values ('sweep', p_now, p_now) on conflict do nothing;
    select w.reached::bigint into v_reached from livewell.freshness_walk as w where w.name = 'sweep' for update;
    v_ids := array(
        select i.id from livewell.item as i
        where i.id > coalesce(v_reached, 0) and i.watched
        order by i.id limit p_slice
    );
    -- Who waits for a refresh, or because one failed, is not asked again: the time is set.
    update livewell.item as i set due_at = p_now
    where i.id = any (array(
        select n.id from livewell.item as n
        where n.id = any (v_ids) and n.due_at > p_now and n.decision is distinct from 'queued'
            and not (n.failed_refreshes > 0 and n.decision is not distinct from 'refresh_failed')
        order by n.id for no key update skip locked
    ));
    get diagnostics v_moved = row_count;
    update livewell.freshness_walk as w
    set reached = case when cardinality(v_ids) < p_slice then null else v_ids[p_slice]::text end,
        begun_at = case when w.reached is null then p_now else w.begun_at end
    where w.name = 'sweep';
    return case when v_moved > 0 then jsonb_build_object('checked_again', v_moved) end;
end $function$;
