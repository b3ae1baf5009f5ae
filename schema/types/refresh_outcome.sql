-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.refresh_outcome as (job_id bigint, worker text, started_at timestamp with time zone, finished_at timestamp with time zone, outcome text, reason text);
