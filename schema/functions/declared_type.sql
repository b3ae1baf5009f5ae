-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.declared_type()
 RETURNS livewell.declared_thing
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select livewell.describe_thing('type', 'livewell.data_type', 'LWR03', array['name', 'created_at', 'updated_at'])
$function$;
