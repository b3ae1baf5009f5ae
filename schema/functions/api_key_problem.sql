-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.api_key_problem(p_key livewell.api_key)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce(livewell.limits_problem(
        (p_key).requests_per_minute, (p_key).requests_per_hour, (p_key).tokens_per_minute, (p_key).tokens_per_hour,
        (p_key).concurrent
    ), case
        when (p_key).name !~ '^[^\s/@]{1,100}$' then 'its name must be 1 to 100 characters without space, / and @'
        when (p_key).scope is null or (p_key).scope !~ '^[^\s/@]{1,100}$'
            then 'scope must be 1 to 100 characters without space, / and @'
        when (p_key).source is null or (p_key).source !~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$'
            then 'source must be env:NAME or file:PATH'
    end)
$function$;
