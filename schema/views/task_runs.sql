-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Ended runs of tasks: one row each, but for quiet ones, of which a row stands for all of an hour, with the last node.
-- for: service
create view livewell.task_runs as
select
    r.id, r.task, r.epoch, r.node, r.outcome, r.hour is not null as quiet, r.started_at, r.ended_at, r.runs, r.total_time,
    r.longest_time, r.result, r.error
from livewell_private.task_run as r;

-- columns:
--   id bigint
--   task text
--   epoch bigint
--   node text
--   outcome text
--   quiet boolean
--   started_at timestamp with time zone
--   ended_at timestamp with time zone
--   runs bigint
--   total_time interval
--   longest_time interval
--   result jsonb
--   error jsonb

grant select on table livewell.task_runs to livewell_service;
