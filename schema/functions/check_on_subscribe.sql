-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_on_subscribe(p_types text[], p_key text)
 RETURNS TABLE(data_type text, decision text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_now constant timestamptz := clock_timestamp();
    v_user text;
    v_items bigint[];
begin
    perform livewell.require_primary();
    if coalesce(cardinality(p_types), 0) not between 1 and 100 then
        raise exception using errcode = 'LWP02', message = 'a check is for 1 to 100 data types of one key';
    end if;
    v_user := livewell.current_user_id();
    perform livewell.count_user_call(v_user, v_now);
    v_items := array(
        select m.item_id from livewell.make_items(p_types, array_fill(p_key, array[cardinality(p_types)]), v_now) as m
        order by m.item_position
    );
    return query
    select a.data_type, coalesce(c.decision, 'busy')
    from unnest(p_types, v_items) with ordinality as a (data_type, item_id, at)
    left join livewell.check_items(
        v_items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', v_now,
        livewell.askers_of(array_fill(v_user, array[cardinality(v_items)]))
    ) as c
        on c.item_id = a.item_id
    order by a.at;
end $function$;

grant execute on function livewell.check_on_subscribe(text[],text) to livewell_user;
