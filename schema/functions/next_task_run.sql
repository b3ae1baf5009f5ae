-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.next_task_run(p_task livewell.task, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case
        when p_task.cron is null then p_now + p_task.every
        else coalesce(livewell.next_cron_time(p_task.cron, p_task.time_zone, p_now), 'infinity')
    end + random() * p_task.jitter
$function$;
