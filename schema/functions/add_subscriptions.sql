-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.add_subscriptions(p_sessions uuid[], p_item_ids bigint[], p_now timestamp with time zone)
 RETURNS text[]
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
    v_most constant integer := livewell.setting_integer('presence.items_per_session');
    v_held record;
    v_busy_items bigint[];
    v_new_sessions uuid[];
    v_new_items bigint[];
    v_new_users text[];
    v_outcomes text[];
begin
    select h.users, h.busy into v_held
    from livewell.hold_sessions(p_sessions, p_now - livewell.setting_interval('presence.gone_after'), p_now) as h;
    v_busy_items := livewell.hold_items(p_item_ids, p_now);
    with asked as (
        select
            a.position, a.session_id, a.item_id, a.user_id, h.items,
            a.item_id is null or a.session_id = any (v_held.busy) or a.item_id = any (v_busy_items) as is_busy,
            a.user_id is not null and c.session_id is null and a.item_id <> all (v_busy_items)
            and row_number() over (partition by a.session_id, a.item_id order by a.position) = 1 as is_new
        from unnest(p_sessions, p_item_ids, v_held.users) with ordinality as a (session_id, item_id, user_id, position)
        left join livewell.subscription as c on c.session_id = a.session_id and c.item_id = a.item_id
        left join lateral (
            select count(*) as items from livewell.subscription as o where o.session_id = a.session_id
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
        insert into livewell.subscription (session_id, item_id)
        select n.session_id, n.item_id from unnest(v_new_sessions, v_new_items) as n (session_id, item_id);
        perform livewell.change_viewers(g.items, g.changes, p_now, g.uncounted)
        from livewell.gain_viewers(
            v_new_items, v_new_users, livewell.counted_looks(v_new_sessions, v_new_items, v_new_users)
        ) as g where g.items is not null;
        perform livewell.check_watched(v_new_items, v_new_users, p_now);
    end if;
    return v_outcomes;
end $function$;
