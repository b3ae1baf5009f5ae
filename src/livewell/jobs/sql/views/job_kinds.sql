-- Kinds with what a person may tune, and the workers that handle each.
-- for: service
create view livewell.job_kinds as
select
    k.kind, k.queue_group, k.description, k.retries, k.backoff_first, k.backoff_max, k.lease, k.time_limit, k.concurrency,
    k.default_priority, k.payload_schema, k.paused_until, k.paused_reason,
    (select count(*) from livewell_private.worker as w where k.kind = any (w.kinds)) as workers
from livewell_private.job_kind as k;
