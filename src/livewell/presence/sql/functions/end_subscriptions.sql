-- Ends subscriptions of sessions and to items that the caller holds, each with its user; one that is named twice ends once.
-- for: internal
create or replace function livewell_private.end_subscriptions(
    p_sessions uuid[], p_item_ids bigint[], p_users text[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_items bigint[];
    v_users text[];
begin
    with ended as (
        delete from livewell_private.subscription as c
        using unnest(p_sessions, p_item_ids, p_users) as a (session_id, item_id, user_id)
        where c.session_id = a.session_id and c.item_id = a.item_id
        returning c.item_id, a.user_id
    )
    select array_agg(e.item_id), array_agg(e.user_id) into v_items, v_users from ended as e;
    if v_items is not null then
        perform livewell_private.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell_private.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
end $$;
