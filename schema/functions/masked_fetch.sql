-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.masked_fetch(p_content jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case when jsonb_typeof(p_content -> 'fetch_call') = 'object' then jsonb_set(p_content, '{fetch_call}', (
        select jsonb_object_agg(f.key, case
            when f.key in ('headers', 'query') and jsonb_typeof(f.value) = 'object'
                then (select coalesce(jsonb_object_agg(v.key, '•••'), '{}') from jsonb_each(f.value) as v)
            when f.key in ('headers', 'query') then '"•••"'
            else f.value
        end)
        from jsonb_each(p_content -> 'fetch_call') as f
    )) else p_content end
$function$;
