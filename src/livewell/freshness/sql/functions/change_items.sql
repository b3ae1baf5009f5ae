-- What is stored of keys of a type has changed by another hand: their items have a new version, and who looks at them is told. Answers
-- key by key: changed; unknown, of which there is no item, because nobody ever looked at it; or busy, which somebody else has in an open
-- transaction, and which stays as it is.
-- for: internal
create or replace function livewell_private.change_items(p_type text, p_keys text[], p_now timestamptz)
returns table (key text, item_id bigint, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_keys text[];
    v_items bigint[];
    v_busy bigint[];
    v_told record;
begin
    select array_agg(k.key), array_agg(i.id) into v_keys, v_items
    from (select distinct k.key from unnest(p_keys) as k (key) where k.key is not null) as k
    left join livewell_private.item as i on i.data_type = p_type and i.key = k.key;
    v_busy := livewell_private.lock_items(v_items, p_now);
    with changed as (
        update livewell_private.item as i set version = livewell_private.next_version(i.version)
        where i.id = any (v_items) and i.id <> all (v_busy)
        returning i.id, i.version, i.viewers
    )
    select array_agg(c.id order by c.id) as ids, array_agg(c.version order by c.id) as versions into v_told
    from changed as c where c.viewers > 0;
    if v_told.ids is not null then
        perform livewell_private.tell_items(v_told.ids, v_told.versions);
    end if;
    return query
    select k.key, k.item_id, case when k.item_id is null then 'unknown' when k.item_id = any (v_busy) then 'busy' else 'changed' end
    from unnest(v_keys, v_items) as k (key, item_id)
    order by k.key;
end $$;
