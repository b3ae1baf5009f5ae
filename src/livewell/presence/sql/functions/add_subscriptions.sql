-- Subscribes sessions to items that are there, and says of each pair what became of it, by position: subscribed, already,
-- gone (the session is not there or was not renewed in time), too_many, or busy: somebody else has the session or the item in an open
-- transaction, and nobody waits for that. Whoever changes who looks at an item holds the item; what a session looks at is counted once
-- it is held.
-- for: internal
create or replace function livewell_private.add_subscriptions(p_sessions uuid[], p_item_ids bigint[], p_now timestamptz) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_most constant integer := livewell.setting_integer('presence.items_per_session');
    v_held record;
    v_busy_items bigint[];
    v_new_sessions uuid[];
    v_new_items bigint[];
    v_new_users text[];
    v_outcomes text[];
begin
    select h.users, h.busy into v_held
    from livewell_private.hold_sessions(p_sessions, p_now - livewell.setting_interval('presence.gone_after'), p_now) as h;
    v_busy_items := livewell_private.hold_items(p_item_ids, p_now);
    with asked as (
        select
            a.position, a.session_id, a.item_id, a.user_id, h.items,
            a.item_id is null or a.session_id = any (v_held.busy) or a.item_id = any (v_busy_items) as is_busy,
            a.user_id is not null and c.session_id is null and a.item_id <> all (v_busy_items)
            and row_number() over (partition by a.session_id, a.item_id order by a.position) = 1 as is_new
        from unnest(p_sessions, p_item_ids, v_held.users) with ordinality as a (session_id, item_id, user_id, position)
        left join livewell_private.subscription as c on c.session_id = a.session_id and c.item_id = a.item_id
        left join lateral (
            select count(*) as items from livewell_private.subscription as o where o.session_id = a.session_id
        ) as h on true
    ),
    answered as (
        select a.position, a.session_id, a.item_id, a.user_id,
            case
                when a.is_busy then 'busy'
                when a.user_id is null then 'gone'
                when not a.is_new then 'already'
                when a.items + count(*) filter (where a.is_new) over (partition by a.session_id order by a.position) > v_most
                    then 'too_many'
                else 'subscribed'
            end as outcome
        from asked as a
    )
    select
        array_agg(w.outcome order by w.position),
        array_agg(w.session_id order by w.position) filter (where w.outcome = 'subscribed'),
        array_agg(w.item_id order by w.position) filter (where w.outcome = 'subscribed'),
        array_agg(w.user_id order by w.position) filter (where w.outcome = 'subscribed')
    into v_outcomes, v_new_sessions, v_new_items, v_new_users
    from answered as w;
    if v_new_sessions is not null then
        insert into livewell_private.subscription (session_id, item_id)
        select n.session_id, n.item_id from unnest(v_new_sessions, v_new_items) as n (session_id, item_id);
        perform livewell_private.change_viewers(g.items, g.changes, p_now, g.uncounted)
        from livewell_private.gain_viewers(
            v_new_items, v_new_users, livewell_private.counted_looks(v_new_sessions, v_new_items, v_new_users)
        ) as g where g.items is not null;
        perform livewell_private.check_watched(v_new_items, v_new_users, p_now);
    end if;
    return v_outcomes;
end $$;
