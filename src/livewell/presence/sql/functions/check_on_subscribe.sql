-- Looks at some types of one key for the user who calls, before or while subscribing: what is missing or stale is refreshed ahead
-- of everything else, within the same quota and gates as ever. Needs no right on any table. Who calls comes from the claims, the
-- priority from the settings, the time from the clock: nothing of it is the caller's to choose. So many calls a minute and user, and
-- so many refreshes of a user's wait; what is over that share is answered `waiting`, and is refreshed in its turn if somebody watches.
-- for: user
create or replace function livewell.check_on_subscribe(p_types text[], p_key text)
returns table (data_type text, decision text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_now constant timestamptz := clock_timestamp();
    v_user text;
    v_items bigint[];
begin
    perform livewell_private.require_primary();
    if coalesce(cardinality(p_types), 0) not between 1 and 100 then
        raise exception using errcode = 'LWP02', message = 'a check is for 1 to 100 data types of one key';
    end if;
    v_user := livewell.current_user_id();
    perform livewell_private.count_user_call(v_user, v_now);
    perform livewell_private.require_watchable(p_types, array_fill(p_key, array[cardinality(p_types)]));
    v_items := array(
        select m.item_id from livewell_private.make_items(p_types, array_fill(p_key, array[cardinality(p_types)]), v_now) as m
        order by m.item_position
    );
    return query
    select a.data_type, coalesce(c.decision, 'busy')
    from unnest(p_types, v_items) with ordinality as a (data_type, item_id, at)
    left join livewell_private.check_items(
        v_items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', v_now,
        livewell_private.askers_of(array_fill(v_user, array[cardinality(v_items)]))
    ) as c
        on c.item_id = a.item_id
    order by a.at;
end $$;
