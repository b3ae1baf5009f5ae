-- Undoes sessions with all they looked at; answers with how many there were. The caller holds their locks.
-- for: internal
create or replace function livewell.drop_sessions(p_ids uuid[], p_now timestamptz) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_items bigint[];
    v_users text[];
    v_dropped integer;
begin
    with ended as (
        delete from livewell.subscription as c using livewell.session as s
        where s.id = any (p_ids) and c.session_id = s.id
        returning c.item_id, s.user_id
    )
    select array_agg(e.item_id), array_agg(e.user_id) into v_items, v_users from ended as e;
    if v_items is not null then
        perform livewell.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
    delete from livewell.session as s where s.id = any (p_ids);
    get diagnostics v_dropped = row_count;
    return v_dropped;
end $$;
