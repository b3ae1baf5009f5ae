-- Ended runs of tasks: one row each, but for quiet ones, of which a row stands for all of an hour, with the last node.
-- for: service
create view livewell.task_runs as
select
    r.id, r.task, r.epoch, r.node, r.outcome, r.hour is not null as quiet, r.started_at, r.ended_at, r.runs, r.total_time,
    r.longest_time, r.result, r.error
from livewell_private.task_run as r;
