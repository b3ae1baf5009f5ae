-- When a task runs again after a success: by its cron expression or its interval, from now, so that missed runs come once;
-- then up to its jitter later.
-- for: internal
create or replace function livewell_private.next_task_run(p_task livewell_private.task, p_now timestamptz) returns timestamptz
language sql volatile
set search_path = pg_catalog, pg_temp as $$
    select case
        when p_task.cron is null then p_now + p_task.every
        else coalesce(livewell.next_cron_time(p_task.cron, p_task.time_zone, p_now), 'infinity')
    end + random() * p_task.jitter
$$;
