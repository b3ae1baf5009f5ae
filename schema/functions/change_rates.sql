-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.change_rates(p_item_ids bigint[], p_ttl_minutes double precision[])
 RETURNS double precision[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return array(
        select greatest(coalesce(i.change_rate, y.change_rate, 1 / a.ttl_minutes), 0.001 / a.ttl_minutes)
        from unnest(p_item_ids, p_ttl_minutes) with ordinality as a (item_id, ttl_minutes, at)
        left join livewell.item as i on i.id = a.item_id
        left join livewell.type_learning as y on y.data_type = i.data_type
        order by a.at
    );
end $function$;
