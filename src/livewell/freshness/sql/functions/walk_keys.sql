-- Walks a type's keys on from where the last slice stopped: the stale ones that nobody watches are queued at priority −1; the
-- watched ones are the checker's. Stops before the first key that found no headroom, so that none is passed over unchecked. A
-- catalogue that cannot be read ends no walk.
-- for: internal
create or replace function livewell_private.walk_keys(p_type text, p_slice integer, p_now timestamptz)
returns table (walked integer, queued integer)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_walk livewell_private.scheduled_walk;
    v_keys text[];
    v_ids bigint[];
    v_stopped integer;
    v_queued_before integer;
begin
    select w.* into v_walk from livewell_private.scheduled_walk as w where w.data_type = p_type for update;
    v_keys := array(
        select k.key from livewell_private.keys_after(p_type, v_walk.reached, p_slice, p_now) with ordinality as k (key, at) order by k.at
    );
    perform livewell_private.make_items(array_fill(p_type, array[cardinality(v_keys)]), v_keys, p_now);
    v_ids := array(
        select i.id from livewell_private.item as i
        where i.data_type = p_type and i.key = any (v_keys) and not i.watched
        order by i.id for no key update skip locked
    );
    select count(*) filter (where d.decision = 'queued'), min(d.at) filter (where d.no_headroom) - 1,
        count(*) filter (where d.decision = 'queued' and (d.first_without_headroom is null or d.at < d.first_without_headroom))
    into queued, v_stopped, v_queued_before
    from (
        select c.*, min(c.at) filter (where c.no_headroom) over () as first_without_headroom
        from (
            select c.decision, array_position(v_keys, i.key) as at,
                c.decision in ('queue_full', 'quota_closed', 'endpoint_closed', 'waiting') as no_headroom
            from livewell_private.check_items(v_ids, -1, 'scheduled', p_now) as c
            join livewell_private.item as i on i.id = c.item_id
        ) as c
    ) as d;
    walked := coalesce(v_stopped, cardinality(v_keys));
    update livewell_private.scheduled_walk as w
    set sliced_at = p_now, keys = w.keys + walked, queued = w.queued + v_queued_before,
        reached = case when walked > 0 then v_keys[walked] else w.reached end
    where w.data_type = p_type;
    if v_stopped is null and cardinality(v_keys) < p_slice and not exists (
        select from livewell_private.fresh_warning as f where f.code = 'registry.catalogue_failed' and f.subject = p_type and f.warned_at >= p_now
    ) then
        update livewell_private.scheduled_walk as w
        set begun_at = case when w.wanted then p_now end, wanted = false, reached = null, ended_at = p_now,
            keys = case when w.wanted then 0 else w.keys end, queued = case when w.wanted then 0 else w.queued end
        where w.data_type = p_type;
    end if;
    return next;
end $$;
