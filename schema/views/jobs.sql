-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

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

-- columns:
--   id bigint
--   shown_state text
--   state text
--   queue_group text
--   kind text
--   priority integer
--   due_at timestamp with time zone
--   waiting_for text
--   attempt integer
--   failures integer
--   retries integer
--   payload jsonb
--   category text
--   dedupe_key text
--   serial_key text
--   endpoint text
--   estimated_bytes bigint
--   estimated_tokens integer
--   lease_until timestamp with time zone
--   worker text
--   started_at timestamp with time zone
--   cancel_reason text
--   created_at timestamp with time zone
--   finished_at timestamp with time zone
--   result jsonb
--   actual_bytes bigint
--   error jsonb
--   reason text
--   acknowledged_at timestamp with time zone
--   acknowledged_by text

grant select on table livewell.jobs to livewell_service;
