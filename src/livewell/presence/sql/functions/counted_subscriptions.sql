-- Which of these new subscriptions count for the rank of their item, by position: those with which their user looks at no more items
-- than `presence.counted_items`, and of anonymous users so many at an item. The subscriptions are written already, their viewers are not
-- counted yet. Two lists are joined here, whatever the caller has forbidden: a loop over both would cost their product.
-- for: internal
create or replace function livewell_private.counted_subscriptions(p_sessions uuid[], p_item_ids bigint[], p_users text[]) returns boolean[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = on set jit = off as $$
declare
    v_items constant bigint := livewell.setting_integer('presence.counted_items');
    v_anonymous constant bigint := livewell.setting_integer('presence.anonymous_viewers');
    -- More rows than that say nothing more: one of so many sessions alone has as many items.
    v_enough constant bigint := cardinality(p_item_ids) + v_items * livewell.setting_integer('presence.sessions_per_user');
    v_users text[];
    v_before bigint[];
begin
    select array_agg(u.user_id), array_agg(u.items) into v_users, v_before
    from (
        select u.user_id, count(distinct c.item_id) filter (where n.session_id is null) as items
        from (select distinct u.user_id from unnest(p_users) as u (user_id)) as u
        cross join lateral (
            select c.session_id, c.item_id from livewell_private.session as s join livewell_private.subscription as c on c.session_id = s.id
            where s.user_id = u.user_id
            limit v_enough
        ) as c
        left join unnest(p_sessions, p_item_ids) as n (session_id, item_id) on n.session_id = c.session_id and n.item_id = c.item_id
        group by u.user_id
    ) as u;
    return array(
        select n.turn + coalesce(u.items, 0) <= v_items and (not n.anonymous or n.anonymous_turn + v.viewers <= v_anonymous)
        from (
            select
                n.*, row_number() over (partition by n.user_id order by n.at) as turn,
                row_number() over (partition by n.item_id, n.anonymous order by n.at) as anonymous_turn
            from (
                select n.*, livewell_private.is_anonymous(n.user_id) as anonymous
                from unnest(p_item_ids, p_users) with ordinality as n (item_id, user_id, at)
            ) as n
        ) as n
        left join unnest(v_users, v_before) as u (user_id, items) on u.user_id = n.user_id
        cross join lateral (
            select count(*) as viewers from (
                select from livewell_private.viewer as v
                where n.anonymous and v.item_id = n.item_id and v.user_id >= 'anon:' and v.user_id < 'anon;'
                    and v.sessions > 0 and v.counted
                limit v_anonymous
            ) as v
        ) as v
        order by n.at
    );
end $$;
