-- Refuses a task that could not run: no schedule or two, an expression that never comes, a function that is not one.
-- for: internal
create or replace function livewell_private.check_task(p_task livewell_private.task, p_now timestamptz) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    if p_task.every is not null and p_task.cron is not null then
        raise exception using errcode = 'LWT03', message = format('task %s has both an interval and a cron expression', p_task.name),
            hint = 'give it one of every and cron';
    end if;
    if p_task.time_zone <> 'UTC' and not exists (select from pg_catalog.pg_timezone_names as z where z.name = p_task.time_zone)
    then
        raise exception using errcode = 'LWT04', message = format('there is no time zone %L', p_task.time_zone),
            hint = 'write a name of the time zone database, as Europe/Berlin or UTC';
    end if;
    if p_task.cron is not null and livewell.next_cron_time(p_task.cron, p_task.time_zone, p_now) is null then
        raise exception using errcode = 'LWT04', message = format('cron expression %L never comes', p_task.cron),
            hint = 'its day-of-month and month do not meet';
    end if;
    if p_task.run is not null then
        perform livewell_private.check_task_function(p_task.run);
    end if;
end $$;
