-- Takes a session over for a gateway, or for none and its own renewal, from wherever it is, or opens it, and makes what it looks at exactly these items (type and key by
-- position), in one go: nobody sees it without them, and what it no longer looks at is let go. Answers with what became of the session
-- (opened, open, taken, too_many or busy; but for the first two nothing was done), by position what `subscribe` answers, and with
-- what it still looks at beyond the list because somebody has that in an open transaction: the caller unsubscribes from it
-- later. Its items are locked together before any of them changes, old and new, in everybody's order.
-- for: service
create or replace function livewell.resume(
    p_gateway text, p_session uuid, p_user text, p_types text[], p_keys text[], p_now timestamptz default clock_timestamp(),
    p_dwell interval default '0', out session_outcome text, out outcomes text[], out items bigint[], out versions bigint[],
    out fetched_at timestamptz[], out left_types text[], out left_keys text[]
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_items bigint[] := array[]::bigint[];
    v_old record;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_same_length(cardinality(p_types), cardinality(p_keys));
    perform livewell_private.require_dwell(p_dwell);
    perform livewell_private.require_users(array[p_session], array[p_user]);
    if p_gateway is not null then
        perform livewell_private.lock_gateway(p_gateway, p_now);
    end if;
    perform from livewell_private.lock_sessions(array[p_session], p_now) as l
    join livewell_private.session as s on s.id = any (l.locked) and s.user_id = p_user;
    if found then
        v_items := array(select m.item_id from livewell_private.make_items(p_types, p_keys, p_now) as m);
        perform livewell_private.lock_items(v_items || array(
            select c.item_id from livewell_private.subscription as c where c.session_id = p_session
        ), p_now);
    end if;
    session_outcome := (livewell.open_sessions(array[p_session], array[p_user], p_gateway, p_now))[1];
    if session_outcome = 'elsewhere' then
        -- Who closed it somewhere else closed what it was there.
        delete from livewell_private.session_leaving as l where l.session_id = p_session;
        update livewell_private.session as s set gateway = p_gateway, last_seen = greatest(s.last_seen, p_now)
        from livewell_private.lock_sessions(array[p_session], p_now) as l
        where s.id = any (l.locked) and s.user_id = p_user;
        session_outcome := case when found then 'open' else 'busy' end;
    end if;
    outcomes := '{}';
    items := '{}';
    versions := '{}';
    fetched_at := '{}';
    left_types := '{}';
    left_keys := '{}';
    if session_outcome not in ('opened', 'open') then
        return;
    end if;
    select array_agg(v.data_type) as types, array_agg(v.key) as keys into v_old
    from livewell_private.subscription as c join livewell.viewers as v on v.item_id = c.item_id
    where c.session_id = p_session and not exists (select from unnest(v_items) as n (id) where n.id = c.item_id);
    if v_old.types is not null then
        select coalesce(array_agg(a.data_type), '{}'), coalesce(array_agg(a.key), '{}') into left_types, left_keys
        from unnest(v_old.types, v_old.keys, livewell.unsubscribe(
            array_fill(p_session, array[cardinality(v_old.types)]), v_old.types, v_old.keys, p_now, p_gateway
        )) as a (data_type, key, outcome)
        where a.outcome = 'busy';
    end if;
    select s.outcomes, s.items, s.versions, s.fetched_at into outcomes, items, versions, fetched_at
    from livewell.subscribe(
        array_fill(p_session, array[cardinality(p_types)]), p_types, p_keys, p_now, p_gateway, p_dwell
    ) as s;
end $$;
