-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.joined_enqueues(p_one livewell.enqueued_jobs, p_two livewell.enqueued_jobs)
 RETURNS livewell.enqueued_jobs
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select row (
        (p_one).positions || (p_two).positions, (p_one).ids || (p_two).ids, (p_one).outcomes || (p_two).outcomes,
        coalesce((p_one).kinds, (p_two).kinds), coalesce((p_one).has_serial_keys, false) or (p_two).has_serial_keys,
        null
    )::livewell.enqueued_jobs
$function$;
