-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.recount_items(p_most integer, p_now timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
declare
    v_items bigint[];
    v_busy bigint[];
    v_by integer[];
begin
    v_items := array(
        select i.id
        from livewell.item as i
        left join (
            select v.item_id, count(*) as viewers from livewell.viewer as v where v.sessions > 0 group by v.item_id
        ) as v on v.item_id = i.id
        where i.viewers <> coalesce(v.viewers, 0)
        order by i.id
        limit p_most
    );
    if v_items = '{}' then
        return 0;
    end if;
    v_busy := livewell.hold_items(v_items, p_now);
    select array_agg(d.id), array_agg(d.by) into v_items, v_by
    from (
        select i.id, (
            select count(*)::integer from livewell.viewer as v where v.item_id = i.id and v.sessions > 0
        ) - i.viewers as by
        from livewell.item as i where i.id = any (v_items) and i.id <> all (v_busy)
    ) as d
    where d.by <> 0;
    if v_items is null then
        return 0;
    end if;
    perform livewell.change_viewers(v_items, v_by, p_now);
    return cardinality(v_items);
end $function$;
