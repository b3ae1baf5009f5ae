-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lose_viewers(p_item_ids bigint[], p_users text[], OUT items bigint[], OUT changes integer[], OUT uncounted integer[])
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    with counted as (
        insert into livewell.viewer as v (item_id, user_id, sessions)
        select a.item_id, a.user_id, a.sessions
        from (
            select a.item_id, a.user_id, count(*)::integer as sessions
            from unnest(p_item_ids, p_users) as a (item_id, user_id)
            group by a.item_id, a.user_id
        ) as a
        order by a.item_id, a.user_id
        on conflict (item_id, user_id) do update set sessions = greatest(0, v.sessions - excluded.sessions)
        returning v.item_id, v.sessions, v.counted
    )
    select array_agg(f.item_id), array_agg(f.by), array_agg(f.uncounted) into items, changes, uncounted
    from (
        select c.item_id, -count(*)::integer as by, -(count(*) filter (where not c.counted))::integer as uncounted
        from counted as c where c.sessions = 0 group by c.item_id
    ) as f;
end $function$;
