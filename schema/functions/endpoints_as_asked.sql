-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.endpoints_as_asked(p_asked jsonb, p_now timestamp with time zone)
 RETURNS SETOF livewell.endpoint
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select (jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell.endpoint,
            livewell.budget_defaults('endpoint')
            || jsonb_build_object('name', d.key, 'provider', split_part(d.key, '/', 1), 'created_at', p_now, 'updated_at', p_now)
        ) else t end,
        livewell.budget_asked('endpoint', d.key, d.value)
    )).*
    from jsonb_each(p_asked) as d
    left join livewell.endpoint as t on t.name = d.key
    order by d.key
$function$;
