-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_quiet(p_result jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_result is null then true
        when jsonb_typeof(p_result) <> 'object' then p_result in ('null', '0', 'false', '""', '[]')
        else not exists (
            select from jsonb_each(p_result - 'again_in') as f
            where f.value not in ('null', '0', 'false', '""', '[]', '{}')
        )
    end
$function$;
