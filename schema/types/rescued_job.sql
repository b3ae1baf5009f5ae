-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.rescued_job as (job_id bigint, kind text, worker text, state text);
