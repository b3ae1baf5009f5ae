-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_due(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_began constant timestamptz := clock_timestamp();
    v_left integer;
    v_until timestamptz;
    v_ids bigint[];
    v_counted boolean := true;
    v_decided jsonb := jsonb_build_object();
    v_checked integer := 0;
begin
    loop
        v_ids := array(
            select i.id from livewell.item as i
            where i.watched and i.due_at <= p_now and (i.viewers > i.uncounted) = v_counted
            order by i.due_at
            limit least(1000, v_left)
            for no key update skip locked
        );
        if v_ids = '{}' then
            exit when not v_counted;
            v_counted := false;
            v_left := least(v_left, ceil(livewell.setting_integer('freshness.max_items') / 4.0));
            continue;
        end if;
        if v_until is null then
            v_left := coalesce(v_left, livewell.setting_integer('freshness.max_items'));
            v_until := v_began + livewell.setting_interval('freshness.max_time');
            v_ids := v_ids[:v_left];
        end if;
        select jsonb_object_agg(n.decision, n.items) into v_decided
        from (
            select d.decision, sum(d.items) as items
            from (
                select c.decision, count(*) as items from livewell.check_items(v_ids, null, null, p_now) as c group by c.decision
                union all
                select k.key, k.value::bigint from jsonb_each_text(v_decided) as k (key, value)
            ) as d
            group by d.decision
        ) as n;
        v_checked := v_checked + cardinality(v_ids);
        v_left := v_left - cardinality(v_ids);
        exit when v_left <= 0 or clock_timestamp() > v_until;
    end loop;
    if v_checked = 0 then
        return null;
    end if;
    return jsonb_build_object('checked', v_checked) || v_decided;
end $function$;
