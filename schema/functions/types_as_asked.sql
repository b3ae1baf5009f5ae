-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.types_as_asked(p_asked jsonb, p_now timestamp with time zone)
 RETURNS TABLE(type livewell.data_type, change livewell.declared_change)
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select n.type, livewell.compare_declared(t.thing, a.key, o, n.type)
    from (select livewell.declared_type() as thing) as t
    cross join jsonb_each(p_asked) as a
    left join livewell.data_type as o on o.name = a.key
    cross join lateral (select livewell.type_asked(t.thing, a.key, a.value) as fields) as f
    cross join lateral (
        select livewell.implied_type(
            t.thing, o, livewell.as_declared(t.thing, o, jsonb_build_object('name', a.key), f.fields, p_now), f.fields
        ) as type
    ) as n
    order by a.key
$function$;
