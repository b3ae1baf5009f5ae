-- Which of these new subscriptions count for the rank of their item, by position: those with which their user looks at no more items
-- than `presence.counted_items`, and of anonymous users so many at an item. Asked before they are written. What each user has is
-- looked up by name: a loop over two lists would cost their product.
-- for: internal
create or replace function livewell_private.counted_subscriptions(p_item_ids bigint[], p_users text[]) returns boolean[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_items constant bigint := livewell.setting_integer('presence.counted_items');
    v_anonymous constant bigint := livewell.setting_integer('presence.anonymous_viewers');
    -- More rows than that say nothing more: one of so many sessions alone has as many items.
    v_enough constant bigint := v_items * livewell.setting_integer('presence.sessions_per_user');
    v_before jsonb;
begin
    select jsonb_object_agg(u.user_id, c.items) into v_before
    from (select distinct u.user_id from unnest(p_users) as u (user_id)) as u
    cross join lateral (
        select count(distinct c.item_id) as items
        from (
            select c.item_id from livewell_private.session as s
            cross join lateral (select c.item_id from livewell_private.subscription as c where c.session_id = s.id offset 0) as c
            where s.user_id = u.user_id
            limit v_enough
        ) as c
    ) as c;
    return array(
        select n.turn + (v_before ->> n.user_id)::bigint <= v_items and (not n.anonymous or n.anonymous_turn + v.viewers <= v_anonymous)
        from (
            select
                n.*, row_number() over (partition by n.user_id order by n.at) as turn,
                row_number() over (partition by n.item_id, n.anonymous order by n.at) as anonymous_turn
            from (
                select n.*, livewell_private.is_anonymous(n.user_id) as anonymous
                from unnest(p_item_ids, p_users) with ordinality as n (item_id, user_id, at)
            ) as n
        ) as n
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
