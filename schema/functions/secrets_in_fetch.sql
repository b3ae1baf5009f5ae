-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.secrets_in_fetch(p_fetch jsonb)
 RETURNS TABLE(field text, key_in text)
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select format('fetch.%s.%s', p.place, v.key), case when lower(v.key) = 'authorization' then 'bearer' else p.travels || v.key end
    from (values ('headers', 'header:'), ('query', 'query:')) as p (place, travels)
    cross join lateral jsonb_each_text(case jsonb_typeof(p_fetch -> p.place) when 'object' then p_fetch -> p.place else '{}' end) as v
    where livewell.looks_secret(v.key, v.value)
    order by 1
$function$;
