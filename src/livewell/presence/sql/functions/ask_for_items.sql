-- Sessions that stayed with items for as long as they were to dwell ask for them: what is missing or stale is refreshed ahead of all
-- else, in the names of their users, as if they had come without dwelling. Session and item by position; answers with how many were
-- asked for. What a session does not look at any more, or somebody else has in an open transaction, is left to the checker.
-- for: service
create or replace function livewell.ask_for_items(
    p_sessions uuid[], p_items bigint[], p_now timestamptz default clock_timestamp(), p_gateway text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_locked record;
    v_busy_items bigint[];
    v_asked record;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_same_length(cardinality(p_sessions), cardinality(p_items));
    select l.users into v_locked
    from livewell_private.lock_live_sessions(p_sessions, p_now - livewell.setting_interval('presence.gone_after'), p_now, p_gateway) as l;
    v_busy_items := livewell_private.lock_items(p_items, p_now);
    select array_agg(c.item_id order by a.position) as items, array_agg(a.user_id order by a.position) as users into v_asked
    from unnest(p_sessions, p_items, v_locked.users) with ordinality as a (session_id, item_id, user_id, position)
    join livewell_private.subscription as c on c.session_id = a.session_id and c.item_id = a.item_id
    where a.user_id is not null and a.item_id <> all (v_busy_items);
    if v_asked.items is null then
        return 0;
    end if;
    perform livewell_private.change_viewers('{}', '{}', p_now, null, v_asked.items, livewell_private.askers_of(v_asked.users));
    return cardinality(v_asked.items);
end $$;
