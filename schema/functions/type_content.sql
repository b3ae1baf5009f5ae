-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.type_content(p_type livewell.data_type)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "IntervalStyle" TO 'postgres'
AS $function$
    select to_jsonb(p_type) - '{name,created_at,updated_at}'::text[] where (p_type).name is not null
$function$;
