-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Kinds with what a person may tune, and the workers that handle each.
-- for: service
create view livewell.job_kinds as
select
    k.kind, k.queue_group, k.description, k.retries, k.backoff_first, k.backoff_max, k.lease, k.time_limit, k.concurrency,
    k.default_priority, k.payload_schema, k.paused_until, k.paused_reason,
    (select count(*) from livewell_private.worker as w where k.kind = any (w.kinds)) as workers
from livewell_private.job_kind as k;

-- columns:
--   kind text
--   queue_group text
--   description text
--   retries integer
--   backoff_first interval
--   backoff_max interval
--   lease interval
--   time_limit interval
--   concurrency integer
--   default_priority integer
--   payload_schema jsonb
--   paused_until timestamp with time zone
--   paused_reason text
--   workers bigint

grant select on table livewell.job_kinds to livewell_service;
