-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.find_relation(p_name text)
 RETURNS oid
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select c.oid
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = split_part(p_name, '.', 1) and c.relname = split_part(p_name, '.', 2)
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
$function$;
