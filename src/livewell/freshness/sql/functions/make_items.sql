-- Finds the items of types and keys, and makes those that are not there. Refuses the whole batch when a type is unknown or
-- disabled, or a key is none of its type, or not known where only known ones may be; the pattern of an item that is there was judged
-- when it was made. Rows are inserted in one order, so that two callers never wait for each other. A key that somebody is adding in a
-- transaction that stays open has no item in the answer, and is not waited for.
-- for: internal
create or replace function livewell_private.make_items(p_types text[], p_keys text[], p_now timestamptz)
returns table (item_position integer, item_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_bad record;
    v_items bigint[];
    v_types text[];
    v_keys text[];
begin
    select array_agg(i.id order by a.at), array_agg(a.data_type) filter (where i.id is null), array_agg(a.key) filter (where i.id is null)
    into v_items, v_types, v_keys
    from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
    left join livewell_private.item as i on i.data_type = a.data_type and i.key = a.key;
    select a.data_type, a.key, t.name as known, t.enabled into v_bad
    from (
        select distinct a.data_type, null as key, false as is_new from unnest(p_types) as a (data_type)
        union all
        select a.data_type, a.key, true from unnest(v_types, v_keys) as a (data_type, key)
    ) as a
    left join livewell_private.known_types as t on t.name = a.data_type
    where t.enabled is not true or a.is_new and not livewell_private.is_key(a.key, t.key_pattern)
    limit 1;
    if found and v_bad.known is null then
        raise exception using errcode = 'LWF01', message = format('unknown data type %s', coalesce(v_bad.data_type, '(none)')),
            hint = 'livewell types list';
    elsif found and not v_bad.enabled then
        raise exception using errcode = 'LWF01', message = format('data type %s is disabled', v_bad.data_type),
            hint = format('livewell types show %s', v_bad.data_type);
    elsif found then
        raise exception using errcode = 'LWF02',
            message = format('%s is no key of type %s', coalesce(to_json(left(v_bad.key, 100))::text, '(none)'), v_bad.data_type),
            hint = format('livewell types show %s: its key_pattern says what a key is', v_bad.data_type);
    end if;
    perform livewell_private.refuse_unknown_keys(p_types, p_keys);
    if v_types is null then
        return query select i.at::integer, i.id from unnest(v_items) with ordinality as i (id, at);
        return;
    end if;
    perform livewell_private.add_items(v_types, v_keys, p_now);
    return query
    select a.at::integer, i.id
    from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
    left join livewell_private.item as i on i.data_type = a.data_type and i.key = a.key;
end $$;
