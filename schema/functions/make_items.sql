-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.make_items(p_types text[], p_keys text[], p_now timestamp with time zone)
 RETURNS TABLE(item_position integer, item_id bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_bad record;
    v_items bigint[];
    v_types text[];
    v_keys text[];
begin
    select array_agg(i.id order by a.at), array_agg(a.data_type) filter (where i.id is null), array_agg(a.key) filter (where i.id is null)
    into v_items, v_types, v_keys
    from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
    left join livewell.item as i on i.data_type = a.data_type and i.key = a.key;
    select a.data_type, a.key, t.name as known, t.enabled into v_bad
    from (
        select distinct a.data_type, null as key, false as is_new from unnest(p_types) as a (data_type)
        union all
        select a.data_type, a.key, true from unnest(v_types, v_keys) as a (data_type, key)
    ) as a
    left join livewell.data_type as t on t.name = a.data_type
    where t.enabled is not true or a.is_new and not livewell.is_key(a.key, t.key_pattern)
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
    perform livewell.refuse_unknown_keys(p_types, p_keys);
    if v_types is null then
        return query select i.at::integer, i.id from unnest(v_items) with ordinality as i (id, at);
        return;
    end if;
    perform livewell.add_items(v_types, v_keys, p_now);
    return query
    select a.at::integer, i.id
    from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
    left join livewell.item as i on i.data_type = a.data_type and i.key = a.key;
end $function$;
