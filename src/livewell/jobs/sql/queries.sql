-- name: enqueue_jobs
-- Queues a batch; answers by position.
select job_id, outcome, handled from livewell.enqueue_jobs($1::text::jsonb, $2) order by job_position

-- name: enqueue_job
-- Queues one job.
select job_id, outcome, handled
from livewell.enqueue_job($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::jsonb, $14)

-- name: claim_jobs
-- Leases the best jobs to a worker.
select
    job_id, kind, payload::text, attempt, failures, lease_token, lease_seconds, priority, serial_key, endpoint,
    trace_context::text, api_key, key_source, send_within_seconds, bundle
from livewell.claim_jobs($1, $2, $3, $4, $5)

-- name: heartbeat_jobs
-- Renews leases and tells which are lost and which are to be cancelled.
select job_id, status, cancel_reason, lease_seconds from livewell.heartbeat_jobs($1, $2, $3)

-- name: finish_jobs
-- Ends attempts; answers with those that are not completed now, which are few: the state each is in, or lost.
select job_id, state from livewell.finish_jobs($1, $2, $3, $4::text::jsonb) where state <> 'completed'

-- name: cancel_jobs
-- Cancels pending jobs and tells running ones.
select job_id, outcome from livewell.cancel_jobs($1, $2, $3) order by job_id

-- name: retry_jobs
-- Gives dead letters another life.
select job_id, outcome, live_job_id from livewell.retry_jobs($1, $2, $3) order by job_id

-- name: acknowledge_jobs
-- Marks dead letters as seen.
select job_id, outcome from livewell.acknowledge_jobs($1, $2, $3) order by job_id

-- name: declare_kinds
-- Makes kinds known; answers with the new ones.
select kind from livewell.declare_kinds($1::text::jsonb, $2) as d (kind)

-- name: apply_kinds
-- Makes kinds as declared, or says what that would change.
select thing, name, change, field, old::text, new::text from livewell.apply_kinds($1::text::jsonb, $2, $3)

-- name: set_kind
-- Tunes a kind.
select livewell.set_kind($1, $2::text::jsonb, $3, $4)

-- name: pause_kind
-- Closes a kind until a time, or until resumed.
select livewell.pause_kind($1, coalesce($2, 'infinity'::timestamptz), $3, $4)

-- name: resume_kind
-- Opens a kind again.
select livewell.resume_kind($1, $2, $3)

-- name: list_kinds
-- All kinds, or the named ones.
select
    kind, queue_group, description, retries, backoff_first, backoff_max, lease, time_limit, concurrency, default_priority,
    payload_schema::text, nullif(paused_until, 'infinity') as paused_until, coalesce(paused_until = 'infinity', false) as paused_for_good,
    paused_reason, workers
from livewell.job_kinds
where $1::text [] is null or kind = any ($1)
order by queue_group, kind

-- name: register_worker
-- Makes a worker known.
select livewell.register_worker($1, $2, $3, $4)

-- name: mark_worker_idle
-- Asks to be notified; answers in how many seconds the next job is due.
select livewell.mark_worker_idle($1)

-- name: retire_workers
-- Forgets a worker, or all that are long unseen.
select id from livewell.retire_workers($1) as r (id)

-- name: list_workers
-- The workers that are there, and for how long nothing was heard of each.
select id, queue_groups, kinds, slots, idle, started_at, last_seen,
    greatest(clock_timestamp() - last_seen, interval '0') as unseen
from livewell.workers order by id

-- name: job_counts
-- Counts by kind and state.
select queue_group, kind, state, jobs, oldest_due_at from livewell.job_counts($1)

-- name: list_jobs
-- Jobs by state and kind, newest first, before an id; with the type and key of a refresh, and why the last attempt failed.
select
    j.id, j.shown_state, j.queue_group, j.kind, j.data_type, j.key, j.priority, j.due_at, j.attempt, j.failures, j.retries,
    j.dedupe_key, j.serial_key, j.worker, j.started_at, j.created_at, j.finished_at,
    coalesce(j.error ->> 'message', j.reason, a.reason) as reason, j.acknowledged_at
from (
    select
        j.*, case when j.kind like 'refresh.%' then j.payload ->> 'type' end as data_type,
        case when j.kind like 'refresh.%' then j.payload ->> 'key' end as key
    from livewell.jobs as j
    where ($1::text [] is null or j.shown_state = any ($1)) and ($2::text [] is null or j.kind = any ($2))
        and ($3::bigint is null or j.id < $3)
    order by j.id desc
    limit $4
) as j
left join lateral (
    select coalesce(a.error ->> 'message', a.reason) as reason from livewell.job_attempts as a
    where a.job_id = j.id and j.finished_at is null and j.attempt > 0
    order by a.attempt desc
    limit 1
) as a on true
order by j.id desc

-- name: show_job
-- One job with everything that is known of it.
select
    id, shown_state, state, queue_group, kind, priority, due_at, waiting_for, attempt, failures, retries, payload::text, category,
    dedupe_key, serial_key, endpoint, estimated_bytes, estimated_tokens, lease_until, worker, started_at, cancel_reason,
    created_at, finished_at, result::text, actual_bytes, error::text, reason, acknowledged_at, acknowledged_by
from livewell.jobs
where id = $1

-- name: job_retention
-- How long jobs are kept, by what they are.
select substring(name from '[a-z]+$') as kept, value::interval from livewell.settings where name like 'jobs.retention.%'

-- name: list_attempts
-- The ended attempts of one job, in order.
select job_id, attempt, worker, started_at, ended_at, outcome, error::text, reason
from livewell.job_attempts
where job_id = $1
order by attempt

-- name: task_rescue
-- One round of rescue.
select livewell.task_rescue()::text

-- name: task_job_partitions
-- Makes the partitions of the days ahead.
select livewell.task_job_partitions()::text

-- name: task_job_retention
-- Drops one expired partition of a day.
select livewell.task_job_retention()::text

-- name: task_brief_retention
-- Drops one expired partition of what is kept briefly.
select livewell.task_brief_retention()::text
