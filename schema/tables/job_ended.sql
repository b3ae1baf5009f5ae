-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.job_ended partition of livewell.job FOR VALUES IN ('completed', 'cancelled') partition by LIST (kept_briefly);
