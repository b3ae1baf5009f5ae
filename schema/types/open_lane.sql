-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.open_lane as (lane_id integer, kind text, queue_group text, share double precision, max_jobs integer, endpoint text, jobs_per_request integer, allowance livewell_private.lane_allowance);
