-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.make_items(p_types text[], p_keys text[], p_now timestamp with time zone)
 RETURNS TABLE(item_position integer, item_id bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_bad record;
begin
    select a.data_type, a.key, t.name as known, t.enabled into v_bad
    from unnest(p_types, p_keys) as a (data_type, key)
    left join livewell.data_type as t on t.name = a.data_type
    where t.enabled is not true or a.key is null or a.key !~ t.key_pattern
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
    insert into livewell.item (data_type, key, due_at, created_at)
    select distinct a.data_type, a.key, p_now, p_now
    from unnest(p_types, p_keys) as a (data_type, key)
    where not exists (select from livewell.item as i where i.data_type = a.data_type and i.key = a.key)
    order by a.data_type, a.key
    on conflict (data_type, key) do nothing;
    return query
    select a.at::integer, i.id
    from unnest(p_types, p_keys) with ordinality as a (data_type, key, at)
    join livewell.item as i on i.data_type = a.data_type and i.key = a.key;
end $function$;
