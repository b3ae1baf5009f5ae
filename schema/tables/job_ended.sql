-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_ended partition of livewell_private.job FOR VALUES IN ('completed', 'cancelled') partition by LIST (kept_briefly);
