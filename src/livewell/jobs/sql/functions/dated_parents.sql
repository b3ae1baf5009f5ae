-- The tables whose partitions are made ahead and dropped by date: how long a partition is, how far ahead they are made at most, how its
-- begin is written in its name, and how long what is in it is kept. Attempts are kept as long as any job.
-- for: internal
create or replace function livewell_private.dated_parents()
returns table (parent text, width interval, ahead interval, written text, kept interval)
language sql stable
set search_path = pg_catalog, pg_temp as $$
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
$$;
