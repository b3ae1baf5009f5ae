-- Makes the viewers of a source those it names: one session for each user, at the gateway `source:NAME`. Only what differs is
-- written, and items are taken once, in order, for those who came and those who left. Answers with how many subscriptions came
-- and went. What somebody else has in an open transaction, a session or an item, waits for the next reading. A gateway that was given up
-- meanwhile begins anew at the next reading.
-- for: internal
create or replace function livewell_private.set_source_viewers(
    p_source text, p_users text[], p_types text[], p_keys text[], p_now timestamptz, out came integer, out went integer
)
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan as $$
declare
    v_gateway constant text := 'source:' || p_source;
    v_items constant bigint[] := array(select m.item_id from livewell_private.make_items(p_types, p_keys, p_now) as m order by m.item_position);
    v_sessions uuid[];
    v_busy_items bigint[];
    v_new record;
    v_counted boolean[];
    v_old record;
    v_gained record;
    v_lost record;
begin
    perform livewell.open_sessions(array_agg(livewell_private.source_session(v_gateway, u.user_id)), array_agg(u.user_id), v_gateway, p_now)
    from (select distinct a.user_id from unnest(p_users) as a (user_id)) as u
    where not exists (select from livewell_private.session as s where s.id = livewell_private.source_session(v_gateway, u.user_id))
    having count(*) > 0;
    select l.locked into v_sessions
    from livewell_private.lock_sessions(array(select s.id from livewell_private.session as s where s.gateway = v_gateway), p_now) as l;
    v_busy_items := livewell_private.lock_items(array(
        select a.item_id from unnest(v_items) as a (item_id)
        union
        select c.item_id from livewell_private.session as s join livewell_private.subscription as c on c.session_id = s.id where s.gateway = v_gateway
    ), p_now);
    select array_agg(a.session_id) as sessions, array_agg(a.item_id) as items, array_agg(a.user_id) as users into v_new
    from (
        select distinct s.id as session_id, a.item_id, a.user_id
        from unnest(p_users, v_items) as a (user_id, item_id)
        join livewell_private.session as s on s.gateway = v_gateway and s.user_id = a.user_id and s.id = any (v_sessions)
        where a.item_id <> all (v_busy_items)
            and not exists (select from livewell_private.subscription as c where c.session_id = s.id and c.item_id = a.item_id)
    ) as a;
    v_counted := livewell_private.counted_subscriptions(v_new.items, v_new.users);
    insert into livewell_private.subscription (session_id, item_id)
    select n.session_id, n.item_id from unnest(v_new.sessions, v_new.items) as n (session_id, item_id);
    with ended as (
        delete from livewell_private.subscription as c using livewell_private.session as s
        where s.gateway = v_gateway and c.session_id = s.id and s.id = any (v_sessions) and c.item_id <> all (v_busy_items)
            and not exists (
                select from unnest(p_users, v_items) as a (user_id, item_id) where a.user_id = s.user_id and a.item_id = c.item_id
            )
        returning c.item_id, s.user_id
    )
    select array_agg(e.item_id) as items, array_agg(e.user_id) as users into v_old from ended as e;
    select l.* into v_lost from livewell_private.lose_viewers(v_old.items, v_old.users) as l;
    select g.* into v_gained from livewell_private.gain_viewers(v_new.items, v_new.users, v_counted) as g;
    perform livewell_private.change_viewers(
        v_lost.items || v_gained.items, v_lost.changes || v_gained.changes, p_now, v_lost.uncounted || v_gained.uncounted,
        v_new.items, livewell_private.askers_of(v_new.users)
    );
    delete from livewell_private.session as s
    where s.gateway = v_gateway and s.id = any (v_sessions)
        and not exists (select from unnest(p_users) as a (user_id) where a.user_id = s.user_id)
        and not exists (select from livewell_private.subscription as c where c.session_id = s.id);
    came := coalesce(cardinality(v_new.items), 0);
    went := coalesce(cardinality(v_old.items), 0);
end $$;
