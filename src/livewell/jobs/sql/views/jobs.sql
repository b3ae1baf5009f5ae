-- Every job, live and finished, with its state as people see it.
-- for: service
create view livewell.jobs as
select
    j.id, livewell.shown_state(j.state, j.attempt, j.due_at, clock_timestamp()) as shown_state, j.state, k.queue_group, j.kind,
    j.priority, j.due_at, j.waiting_for, j.attempt, j.failures, j.retries, j.payload, j.category, j.dedupe_key, j.serial_key,
    j.endpoint, j.estimated_bytes, j.estimated_tokens, j.lease_until, j.worker, j.started_at, j.cancel_reason, j.created_at,
    j.finished_at, j.result, j.actual_bytes, j.error, j.reason, j.acknowledged_at, j.acknowledged_by
from livewell_private.job as j
left join livewell_private.job_kind as k on k.kind = j.kind;
