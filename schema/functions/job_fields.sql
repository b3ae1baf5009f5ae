-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.job_fields()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select array[
        'kind', 'payload', 'priority', 'scheduled_at', 'delay_seconds', 'category', 'dedupe_key', 'serial_key',
        'endpoint', 'estimated_bytes', 'estimated_tokens', 'retries', 'trace_context'
    ]
$function$;
