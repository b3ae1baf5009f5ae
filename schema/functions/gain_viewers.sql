-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.gain_viewers(p_item_ids bigint[], p_users text[], p_counted boolean[], OUT items bigint[], OUT changes integer[], OUT uncounted integer[])
 RETURNS record
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
    v_pairs integer;
begin
    with counted as (
        insert into livewell.viewer as v (item_id, user_id, sessions, counted)
        select a.item_id, a.user_id, 1, bool_or(a.counted)
        from unnest(p_item_ids, p_users, p_counted) as a (item_id, user_id, counted)
        group by a.item_id, a.user_id
        order by a.item_id, a.user_id
        on conflict (item_id, user_id) do update
        set sessions = v.sessions + 1, counted = case when v.sessions = 0 then excluded.counted else v.counted end
        returning v.item_id, v.sessions, v.counted
    )
    select sum(f.pairs), array_agg(f.item_id) filter (where f.by > 0), array_agg(f.by) filter (where f.by > 0),
        array_agg(f.uncounted) filter (where f.by > 0)
    into v_pairs, items, changes, uncounted
    from (
        select c.item_id, count(*)::integer as pairs, (count(*) filter (where c.sessions = 1))::integer as by,
            (count(*) filter (where c.sessions = 1 and not c.counted))::integer as uncounted
        from counted as c group by c.item_id
    ) as f;
    if v_pairs < cardinality(p_item_ids) then
        update livewell.viewer as v set sessions = v.sessions + a.more
        from (
            select a.item_id, a.user_id, count(*)::integer - 1 as more
            from unnest(p_item_ids, p_users) as a (item_id, user_id)
            group by a.item_id, a.user_id having count(*) > 1
        ) as a
        where v.item_id = a.item_id and v.user_id = a.user_id;
    end if;
end $function$;
