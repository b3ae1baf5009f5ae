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
    v_sessions uuid[];
    v_items bigint[];
    v_users text[];
    v_busy bigint[];
    v_kept uuid[] := array[]::uuid[];
    v_dropped integer;
begin
    with ended as (
        delete from livewell.subscription as c using livewell.session as s
        where s.id = any (p_ids) and c.session_id = s.id
        returning c.item_id, s.user_id, s.id
    )
    select array_agg(e.item_id), array_agg(e.user_id), array_agg(e.id) into v_items, v_users, v_sessions from ended as e;
    if v_items is not null then
        v_busy := livewell.lock_items(v_items, p_now);
        if v_busy <> '{}' then
            insert into livewell.subscription (session_id, item_id)
            select e.session_id, e.item_id from unnest(v_sessions, v_items) as e (session_id, item_id) where e.item_id = any (v_busy);
            select array_agg(e.item_id) filter (where e.item_id <> all (v_busy)), array_agg(e.user_id) filter (where e.item_id <> all (v_busy)),
                array_agg(distinct e.session_id) filter (where e.item_id = any (v_busy))
            into v_items, v_users, v_kept
            from unnest(v_sessions, v_items, v_users) as e (session_id, item_id, user_id);
            -- Behind those that are gone for longer: the same few must not keep the sweeper from the rest.
            update livewell.session as s
            set gateway = null, last_seen = p_now - livewell.setting_interval('presence.gone_after')
            where s.id = any (v_kept);
        end if;
        perform livewell.change_viewers(l.items, l.changes, p_now, l.uncounted)
        from livewell.lose_viewers(v_items, v_users) as l where l.items is not null;
    end if;
    delete from livewell.session as s where s.id = any (p_ids) and s.id <> all (v_kept);
    get diagnostics v_dropped = row_count;
    return v_dropped;
end $function$;
