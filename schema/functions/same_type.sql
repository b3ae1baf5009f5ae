-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.same_type(p_old jsonb, p_new jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select p_old - 'ttl' = p_new - 'ttl' and (p_old ->> 'ttl')::interval is not distinct from (p_new ->> 'ttl')::interval
$function$;
