-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.api_keys_as_asked(p_asked jsonb, p_now timestamp with time zone)
 RETURNS SETOF livewell.api_key
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select (jsonb_populate_record(
        case when t.name is null then jsonb_populate_record(
            null::livewell.api_key,
            livewell.budget_defaults('key')
            || jsonb_build_object(
                'provider', split_part(d.key, '@', 1), 'name', split_part(d.key, '@', 2), 'scope', split_part(d.key, '@', 2),
                'granted', 0, 'created_at', p_now, 'updated_at', p_now
            )
        ) else t end,
        livewell.budget_asked('key', d.key, d.value)
    )).*
    from jsonb_each(p_asked) as d
    left join livewell.api_key as t on t.provider = split_part(d.key, '@', 1) and t.name = split_part(d.key, '@', 2)
    order by d.key
$function$;
