-- The fields of a task that a person or a program may set.
-- for: internal
create or replace function livewell_private.task_fields() returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select array[
        'description', 'run', 'every', 'cron', 'time_zone', 'jitter', 'backoff_min', 'backoff_max', 'lease', 'time_limit',
        'late_after', 'enabled'
    ]
$$;
