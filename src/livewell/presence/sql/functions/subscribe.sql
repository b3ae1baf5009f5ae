-- Subscribes sessions to items, a batch in one call: session, type and key by position. Answers by position with what became of each:
-- subscribed, already, gone (the session is not there, was not renewed in time, or, where a gateway is named, is not its own any more),
-- too_many, or busy: somebody else has the session or the item in an open transaction, and nobody waits for that; and with the item, its
-- version and when it was fetched. A type or key that is wrong refuses the batch. Sessions are locked first, then items: whoever
-- changes who looks at an item has its lock. Then it is counted who looks, and freshness is told all of it at once. Who is to dwell
-- first is asked for later: by `ask_for_items`, or by the checker when the time is over.
-- for: service
create or replace function livewell.subscribe(
    p_sessions uuid[], p_types text[], p_keys text[], p_now timestamptz default clock_timestamp(), p_gateway text default null,
    p_dwell interval default '0', out outcomes text[], out items bigint[], out versions bigint[], out fetched_at timestamptz[]
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_most constant integer := livewell.setting_integer('presence.items_per_session');
    v_locked record;
    v_busy_items bigint[];
    v_new record;
    v_counted boolean[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_same_length(cardinality(p_sessions), cardinality(p_types), cardinality(p_keys));
    perform livewell_private.require_dwell(p_dwell);
    select l.users, l.busy into v_locked
    from livewell_private.lock_live_sessions(p_sessions, p_now - livewell.setting_interval('presence.gone_after'), p_now, p_gateway) as l;
    items := array(select m.item_id from livewell_private.make_items(p_types, p_keys, p_now) as m order by m.item_position);
    v_busy_items := livewell_private.lock_items(items, p_now);
    with asked as (
        select
            a.position, a.session_id, a.item_id, a.user_id, h.items,
            a.item_id is null or a.session_id = any (v_locked.busy) or a.item_id = any (v_busy_items) as is_busy,
            a.user_id is not null and c.session_id is null and a.item_id <> all (v_busy_items)
            and row_number() over (partition by a.session_id, a.item_id order by a.position) = 1 as is_new
        from unnest(p_sessions, subscribe.items, v_locked.users) with ordinality as a (session_id, item_id, user_id, position)
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
        array_agg(w.outcome order by w.position) as outcomes,
        array_agg(w.session_id order by w.position) filter (where w.outcome = 'subscribed') as sessions,
        array_agg(w.item_id order by w.position) filter (where w.outcome = 'subscribed') as items,
        array_agg(w.user_id order by w.position) filter (where w.outcome = 'subscribed') as users
    into v_new
    from answered as w;
    if v_new.sessions is not null then
        v_counted := livewell_private.counted_subscriptions(v_new.items, v_new.users);
        insert into livewell_private.subscription (session_id, item_id)
        select n.session_id, n.item_id from unnest(v_new.sessions, v_new.items) as n (session_id, item_id);
        perform livewell_private.change_viewers(g.items, g.changes, p_now, g.uncounted, v_new.items, livewell_private.askers_of(v_new.users), p_dwell)
        from livewell_private.gain_viewers(v_new.items, v_new.users, v_counted) as g;
    end if;
    outcomes := coalesce(v_new.outcomes, '{}');
    select v.versions, v.fetched_at into versions, fetched_at from livewell_private.item_versions(items) as v;
end $$;
