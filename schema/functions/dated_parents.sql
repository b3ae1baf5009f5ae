-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.dated_parents()
 RETURNS TABLE(parent text, width interval, ahead interval, written text, kept interval)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select p.parent, p.width, p.ahead, p.written, p.kept
    from (
        select livewell.setting_interval('jobs.retention.failed') as failed, livewell.setting_interval('jobs.retention.refreshes') as brief,
            greatest(livewell.setting_interval('jobs.retention.completed'), livewell.setting_interval('jobs.retention.cancelled')) as done
    ) as s
    cross join lateral (values
        ('job_attempt', interval '1 day', null::interval, 'YYYYMMDD', greatest(s.failed, s.done)),
        ('job_brief', interval '30 minutes', interval '6 hours', 'YYYYMMDDHH24MI', s.brief),
        ('job_done', interval '1 day', null, 'YYYYMMDD', s.done),
        ('job_failed', interval '1 day', null, 'YYYYMMDD', s.failed)
    ) as p (parent, width, ahead, written, kept)
$function$;
