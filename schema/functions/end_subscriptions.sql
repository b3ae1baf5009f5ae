-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.end_subscriptions(p_sessions uuid[], p_item_ids bigint[], p_users text[], p_now timestamp with time zone)
 RETURNS void
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
    v_items bigint[];
    v_users text[];
begin
    with ended as (
        delete from livewell.subscription as c
        using unnest(p_sessions, p_item_ids, p_users) as a (session_id, item_id, user_id)
        where c.session_id = a.session_id and c.item_id = a.item_id
        returning c.item_id, a.user_id
    )
    select array_agg(e.item_id), array_agg(e.user_id) into v_items, v_users from ended as e;
    if v_items is not null then
        perform livewell.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
end $function$;
