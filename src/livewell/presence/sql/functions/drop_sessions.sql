-- Undoes sessions with all they looked at; answers with how many there were. The caller holds their locks. One that looks at an item
-- somebody else has in an open transaction keeps that, and is gone for everybody: the sweeper undoes it when the item is free.
-- for: internal
create or replace function livewell_private.drop_sessions(p_ids uuid[], p_now timestamptz) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_sessions uuid[];
    v_items bigint[];
    v_users text[];
    v_busy bigint[];
    v_kept uuid[] := array[]::uuid[];
    v_dropped integer;
begin
    with ended as (
        delete from livewell_private.subscription as c using livewell_private.session as s
        where s.id = any (p_ids) and c.session_id = s.id
        returning c.item_id, s.user_id, s.id
    )
    select array_agg(e.item_id), array_agg(e.user_id), array_agg(e.id) into v_items, v_users, v_sessions from ended as e;
    if v_items is not null then
        v_busy := livewell_private.lock_items(v_items, p_now);
        if v_busy <> '{}' then
            insert into livewell_private.subscription (session_id, item_id)
            select e.session_id, e.item_id from unnest(v_sessions, v_items) as e (session_id, item_id) where e.item_id = any (v_busy);
            select array_agg(e.item_id) filter (where e.item_id <> all (v_busy)), array_agg(e.user_id) filter (where e.item_id <> all (v_busy)),
                array_agg(distinct e.session_id) filter (where e.item_id = any (v_busy))
            into v_items, v_users, v_kept
            from unnest(v_sessions, v_items, v_users) as e (session_id, item_id, user_id);
            -- Behind those that are gone for longer: the same few must not keep the sweeper from the rest.
            update livewell_private.session as s
            set gateway = null, last_seen = p_now - livewell.setting_interval('presence.gone_after')
            where s.id = any (v_kept);
        end if;
        perform livewell_private.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell_private.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
    delete from livewell_private.session as s where s.id = any (p_ids) and s.id <> all (v_kept);
    get diagnostics v_dropped = row_count;
    return v_dropped;
end $$;
