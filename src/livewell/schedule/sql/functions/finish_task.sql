-- Ends a run: only the token of its lease can. Says how it ended, or `lost` when the task is another's by now, and then
-- changes nothing. A success is followed by the next time of the schedule, a failure by a backoff.
-- for: service
create or replace function livewell.finish_task(
    p_name text, p_token uuid, p_outcome text, p_result jsonb default null, p_error jsonb default null,
    p_now timestamptz default clock_timestamp()
) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_task livewell_private.task;
begin
    perform livewell_private.require_primary();
    if p_outcome is null or p_outcome not in ('succeeded', 'failed') then
        raise exception using errcode = 'LWT03', message = format('a run cannot end as %L', p_outcome),
            hint = 'it is succeeded or failed';
    end if;
    select t.* into v_task from livewell_private.task as t where t.name = p_name and t.lease_token = p_token for update;
    if not found then
        return 'lost';
    end if;
    perform livewell_private.record_task_run(v_task, p_outcome, p_result, p_error, p_now);
    update livewell_private.task as t set
        lease_token = null, lease_until = null, holder = null, started_at = null,
        due_at = case
            when p_outcome = 'succeeded' then
                coalesce(p_now + livewell_private.asked_again_in(p_result), livewell_private.next_task_run(v_task, p_now))
            else least(
                p_now + t.backoff_min + random() * (t.backoff_max - t.backoff_min),
                case when t.cron is not null then livewell_private.next_task_run(v_task, p_now) end
            )
        end,
        last_success_at = case when p_outcome = 'succeeded' then p_now else t.last_success_at end,
        last_failure_at = case when p_outcome = 'failed' then p_now else t.last_failure_at end,
        last_error = case when p_outcome = 'failed' then p_error end,
        failures = case when p_outcome = 'failed' then t.failures + 1 else 0 end
    where t.name = p_name;
    return p_outcome;
end $$;
