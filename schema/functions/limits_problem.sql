-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.limits_problem(p_requests_per_minute integer, p_requests_per_hour integer, p_tokens_per_minute integer, p_tokens_per_hour integer, p_concurrent integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select l.field || ' must be above 0, or unlimited'
    from (values
        ('requests_per_minute', p_requests_per_minute), ('requests_per_hour', p_requests_per_hour),
        ('tokens_per_minute', p_tokens_per_minute), ('tokens_per_hour', p_tokens_per_hour), ('concurrent', p_concurrent)
    ) as l (field, value)
    where l.value <= 0
    limit 1
$function$;
