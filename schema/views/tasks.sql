-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Tasks with what a person may tune, who runs each at the moment, and how it went.
-- for: service
create view livewell.tasks as
select
    t.name, t.description, t.run, t.every, t.cron, t.time_zone, t.jitter, t.backoff_min, t.backoff_max, t.lease, t.time_limit,
    t.late_after, t.enabled, t.due_at, t.epoch, t.lease_until, t.holder, t.started_at, t.last_success_at, t.last_failure_at,
    t.last_error, t.failures, t.watched_since, t.created_at, t.updated_at
from livewell_private.task as t;

-- columns:
--   name text
--   description text
--   run text
--   every interval
--   cron text
--   time_zone text
--   jitter interval
--   backoff_min interval
--   backoff_max interval
--   lease interval
--   time_limit interval
--   late_after interval
--   enabled boolean
--   due_at timestamp with time zone
--   epoch bigint
--   lease_until timestamp with time zone
--   holder text
--   started_at timestamp with time zone
--   last_success_at timestamp with time zone
--   last_failure_at timestamp with time zone
--   last_error jsonb
--   failures integer
--   watched_since timestamp with time zone
--   created_at timestamp with time zone
--   updated_at timestamp with time zone

grant select on table livewell.tasks to livewell_service;
