-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_service(p_role name)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select pg_catalog.pg_has_role(p_role, 'livewell_service', 'usage') or pg_catalog.pg_has_role(p_role, 'livewell_owner', 'usage')
$function$;
