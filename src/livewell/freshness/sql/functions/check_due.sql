-- One run of the checker: takes due items in due order, slice by slice, until nothing is due or a bound is reached; what was
-- not reached is first in the next run. What only uncounted viewers look at comes after all others, and has a quarter of a run at most. Answers with how many were checked and what was decided.
-- for: internal
create or replace function livewell_private.check_due(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan as $$
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
            select i.id from livewell_private.item as i
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
                select c.decision, count(*) as items from livewell_private.check_items(v_ids, null, null, p_now) as c group by c.decision
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
end $$;
