-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_fields()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select array[
        'description', 'run', 'every', 'cron', 'time_zone', 'jitter', 'backoff_min', 'backoff_max', 'lease', 'time_limit',
        'late_after', 'enabled'
    ]
$function$;
