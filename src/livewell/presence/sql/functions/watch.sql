-- A user looks at items, [{"type", "key"}, …], in a session of the user's own, which is opened when it is not there. All of
-- them, or, when one is wrong or there is no room, none. Answers with how many are new. Who calls is told by the claims;
-- so many calls a minute and user, because each may lead to refreshes. What somebody else holds is waited for, two seconds long.
-- for: user
create or replace function livewell.watch(p_session uuid, p_items jsonb) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_user text;
    v_now constant timestamptz := clock_timestamp();
    v_types text[];
    v_keys text[];
    v_outcomes text[];
    v_new integer := 0;
begin
    perform livewell_private.require_primary();
    v_user := livewell.current_user_id();
    select a.types, a.keys into v_types, v_keys from livewell_private.items_asked(p_items) as a;
    perform livewell_private.require_own_session(p_session, v_user);
    perform livewell_private.count_user_call(v_user, v_now);
    perform livewell_private.require_watchable(v_types, v_keys);
    if not livewell_private.is_session_live(p_session, v_now) then
        -- Calls of one user count its sessions one after the other: each holds the row that counts its calls.
        v_outcomes := livewell.open_sessions(array[p_session], array[v_user], null, v_now);
        perform livewell_private.require_outcomes(v_outcomes);
    end if;
    for v_try in 1..8 loop
        select s.outcomes into v_outcomes
        from livewell.subscribe(array_fill(p_session, array[cardinality(v_types)]), v_types, v_keys, v_now) as s;
        v_new := v_new + (select count(*) from unnest(v_outcomes) as o (outcome) where o.outcome = 'subscribed');
        exit when 'busy' <> all (v_outcomes);
    end loop;
    perform livewell_private.require_outcomes(v_outcomes);
    return v_new;
end $$;
