-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_identifier(p_name text, p_qualified boolean)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce(case
        when p_qualified then p_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$' and p_name !~ '^pg_(temp|toast)'
        else p_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
    end, false)
$function$;
