-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.declared_kind()
 RETURNS livewell.declared_thing
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select livewell.describe_thing('kind', 'livewell.job_kind', 'LWJ06', array[
        'kind', 'jobs_per_request', 'paused_until', 'paused_reason', 'created_at', 'updated_at'
    ])
$function$;
