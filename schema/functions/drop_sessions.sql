-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.drop_sessions(p_ids uuid[], p_now timestamp with time zone)
 RETURNS integer
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
end $function$;
