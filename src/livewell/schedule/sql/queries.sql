-- name: look_at_tasks
-- What is due and free, and when to look again.
select name, run, next_in_seconds from livewell.look_at_tasks($1, $2)

-- name: take_tasks
-- Leases the named tasks to a node, or says why not.
select name, reason, token, epoch, lease_seconds, time_limit_seconds from livewell.take_tasks($1, $2, $3)

-- name: renew_tasks
-- Renews leases and tells which are lost.
select name, status, lease_seconds from livewell.renew_tasks($1, $2)

-- name: finish_task
-- Ends a run by its token.
select livewell.finish_task($1, $2, $3, $4::text::jsonb, $5::text::jsonb)

-- name: limit_task
-- Gives the transaction the time limit of a task, and answers it in seconds. A program that stops between the run and its
-- commit keeps the task from all others only for as long as it may be idle.
select
    extract(epoch from t.time_limit)::double precision,
    set_config('statement_timeout', (extract(epoch from t.time_limit) * 1000)::bigint::text, true),
    set_config('idle_in_transaction_session_timeout', '3s', true)
from (select coalesce((select time_limit from livewell.tasks where name = $1), interval '30 seconds')) as t (time_limit)

-- name: run_task
-- Takes, runs and finishes an SQL task in one transaction.
select livewell.run_task($1, $2, $3)::text

-- name: declare_tasks
-- Makes tasks known; answers with the new ones.
select name from livewell.declare_tasks($1::text::jsonb, $2) as d (name)

-- name: apply_tasks
-- Makes tasks as declared, or says what that would change.
select thing, name, change, field, old::text, new::text from livewell.apply_tasks($1::text::jsonb, $2, $3)

-- name: set_task
-- Tunes, enables or disables a task.
select livewell.set_task($1, $2::text::jsonb, $3, $4)

-- name: list_tasks
-- All tasks, or the named ones.
select
    name, description, run, every, cron, time_zone, jitter, backoff_min, backoff_max, lease, time_limit, late_after, enabled,
    due_at, epoch, lease_until, holder, started_at, last_success_at, last_failure_at, last_error::text, failures
from livewell.tasks
where $1::text [] is null or name = any ($1)
order by name

-- name: list_runs
-- Ended runs, newest first, before an id.
select
    id, task, epoch, node, outcome, quiet, started_at, ended_at, runs, total_time, longest_time, result::text, error::text
from livewell.task_runs
where ($1::text is null or task = $1) and ($2::bigint is null or id < $2)
    and ($3::text [] is null or outcome = any ($3))
order by id desc
limit $4

-- name: task_health
-- Whether every task succeeds in time.
select livewell.task_health()::text

-- name: cron_statements
-- The tasks as statements for pg_cron.
select statement from livewell.cron_statements(coalesce($1, current_database())) as s (statement)
