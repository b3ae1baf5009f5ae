-- Puts an ended run on record. Quiet ones share a row per task and hour, or a task that ticks every second would leave
-- 86,400 rows a day.
-- for: internal
create or replace function livewell_private.record_task_run(
    p_task livewell_private.task, p_outcome text, p_result jsonb, p_error jsonb, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_time constant interval := greatest(p_now - p_task.started_at, interval '0');
    v_hour constant timestamptz := case
        when p_outcome = 'succeeded' and livewell_private.is_quiet(p_result) then date_trunc('hour', p_now, 'UTC')
    end;
begin
    insert into livewell_private.task_run as r (
        task, epoch, node, outcome, hour, started_at, ended_at, total_time, longest_time, result, error
    )
    values (
        p_task.name, p_task.epoch, p_task.holder, p_outcome, v_hour, p_task.started_at, p_now, v_time, v_time,
        case when v_hour is null then p_result end, p_error
    )
    on conflict (task, hour) where hour is not null do update set
        epoch = excluded.epoch, node = excluded.node, ended_at = excluded.ended_at, runs = r.runs + 1,
        total_time = r.total_time + excluded.total_time, longest_time = greatest(r.longest_time, excluded.longest_time);
end $$;
