-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.types_as_asked(p_asked jsonb, p_now timestamp with time zone)
 RETURNS SETOF livewell.data_type
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select n.*
    from (select a.key, livewell.type_asked(a.key, a.value) as asked from jsonb_each(p_asked) as a) as d
    left join livewell.data_type as t on t.name = d.key
    cross join lateral livewell.implied_type(t, jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell.data_type,
            livewell.type_defaults() || jsonb_build_object('name', d.key, 'created_at', p_now, 'updated_at', p_now)
        ) else t end,
        d.asked
    ), d.asked) as n
    order by d.key
$function$;
