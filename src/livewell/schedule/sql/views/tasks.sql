-- Tasks with what a person may tune, who runs each at the moment, and how it went.
-- for: service
create view livewell.tasks as
select
    t.name, t.description, t.run, t.every, t.cron, t.time_zone, t.jitter, t.backoff_min, t.backoff_max, t.lease, t.time_limit,
    t.late_after, t.enabled, t.due_at, t.epoch, t.lease_until, t.holder, t.started_at, t.last_success_at, t.last_failure_at,
    t.last_error, t.failures, t.watched_since, t.created_at, t.updated_at
from livewell_private.task as t;
