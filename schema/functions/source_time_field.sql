-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.source_time_field(p_fields jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select min(f.key)
    from jsonb_each(case when jsonb_typeof(p_fields) = 'object' then p_fields else '{}' end) as f
    where f.value -> 'source_time' = 'true'
$function$;
