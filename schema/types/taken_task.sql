-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.taken_task as (name text, run text, token uuid, epoch bigint, lease interval, time_limit interval);
