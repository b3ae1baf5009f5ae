-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Every ended attempt of every job: those followed by another, and those that ended their job. A job cancelled while
-- it waited ended without an attempt: nobody had started it.
-- for: service
create view livewell.job_attempts as
select a.job_id, a.attempt, a.worker, a.started_at, a.ended_at, a.outcome, a.error, a.reason
from livewell_private.job_attempt as a
union all
select j.id, j.attempt, j.worker, j.started_at, j.finished_at, j.state, j.error, j.reason
from livewell_private.job as j
where j.state in ('completed', 'cancelled', 'failed') and j.started_at is not null;

-- columns:
--   job_id bigint
--   attempt integer
--   worker text
--   started_at timestamp with time zone
--   ended_at timestamp with time zone
--   outcome text
--   error jsonb
--   reason text

grant select on table livewell.job_attempts to livewell_service;
