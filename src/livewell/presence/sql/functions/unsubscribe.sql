-- Ends subscriptions, a batch in one call: session, type and key by position. Answers by position: unsubscribed, or not_there
-- when there was no such subscription, or, where a gateway is named, the session is not its own any more; or busy: somebody else has the
-- session or the item in an open transaction, and the caller asks again later. A session that is past its time may still let go of something.
-- for: service
create or replace function livewell.unsubscribe(
    p_sessions uuid[], p_types text[], p_keys text[], p_now timestamptz default clock_timestamp(), p_gateway text default null
) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_locked record;
    v_busy_items bigint[];
    v_outcomes text[];
    v_sessions uuid[];
    v_items bigint[];
    v_users text[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_same_length(cardinality(p_sessions), cardinality(p_types), cardinality(p_keys));
    select l.users, l.busy into v_locked from livewell_private.lock_live_sessions(p_sessions, null, p_now, p_gateway) as l;
    v_busy_items := livewell_private.lock_items(array(
        select i.id from unnest(p_types, p_keys) as a (data_type, key) join livewell_private.item as i on i.data_type = a.data_type and i.key = a.key
    ), p_now);
    select
        array_agg(case
            when a.session_id = any (v_locked.busy) or i.id = any (v_busy_items) then 'busy'
            when c.item_id is null then 'not_there'
            else 'unsubscribed'
        end order by a.position),
        array_agg(c.session_id) filter (where c.item_id is not null),
        array_agg(c.item_id) filter (where c.item_id is not null),
        array_agg(a.user_id) filter (where c.item_id is not null)
    into v_outcomes, v_sessions, v_items, v_users
    from unnest(p_sessions, p_types, p_keys, v_locked.users) with ordinality as a (session_id, data_type, key, user_id, position)
    left join livewell_private.item as i on i.data_type = a.data_type and i.key = a.key
    left join livewell_private.subscription as c on a.user_id is not null and c.session_id = a.session_id and c.item_id = i.id
        and i.id <> all (v_busy_items);
    with ended as (
        -- One that is named twice ends once.
        delete from livewell_private.subscription as c
        using unnest(v_sessions, v_items, v_users) as a (session_id, item_id, user_id)
        where c.session_id = a.session_id and c.item_id = a.item_id
        returning c.item_id, a.user_id
    )
    select array_agg(e.item_id), array_agg(e.user_id) into v_items, v_users from ended as e;
    if v_items is not null then
        perform livewell_private.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell_private.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
    return coalesce(v_outcomes, '{}');
end $$;
