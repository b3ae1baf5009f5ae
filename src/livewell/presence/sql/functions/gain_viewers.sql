-- Counts new subscriptions by item and user, taken in that order, and says of which items there are how many viewers more:
-- one when a user's first session comes, and of how many of them are uncounted. Several sessions of a user in one batch are rare: their further ones are added to
-- rows that are held by then.
-- for: internal
create or replace function livewell_private.gain_viewers(
    p_item_ids bigint[], p_users text[], p_counted boolean[], out items bigint[], out changes integer[], out uncounted integer[]
)
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_pairs integer;
begin
    with counted as (
        insert into livewell_private.viewer as v (item_id, user_id, sessions, counted)
        select a.item_id, a.user_id, 1, bool_or(a.counted)
        from unnest(p_item_ids, p_users, p_counted) as a (item_id, user_id, counted)
        group by a.item_id, a.user_id
        order by a.item_id, a.user_id
        on conflict (item_id, user_id) do update
        set sessions = v.sessions + 1, counted = case when v.sessions = 0 then excluded.counted else v.counted end
        returning v.item_id, v.sessions, v.counted
    )
    select sum(f.pairs), array_agg(f.item_id) filter (where f.by > 0), array_agg(f.by) filter (where f.by > 0),
        array_agg(f.uncounted) filter (where f.by > 0)
    into v_pairs, items, changes, uncounted
    from (
        select c.item_id, count(*)::integer as pairs, (count(*) filter (where c.sessions = 1))::integer as by,
            (count(*) filter (where c.sessions = 1 and not c.counted))::integer as uncounted
        from counted as c group by c.item_id
    ) as f;
    if v_pairs < cardinality(p_item_ids) then
        update livewell_private.viewer as v set sessions = v.sessions + a.more
        from (
            select a.item_id, a.user_id, count(*)::integer - 1 as more
            from unnest(p_item_ids, p_users) as a (item_id, user_id)
            group by a.item_id, a.user_id having count(*) > 1
        ) as a
        where v.item_id = a.item_id and v.user_id = a.user_id;
    end if;
end $$;
