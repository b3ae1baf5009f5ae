-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_brief_default partition of livewell_private.job_brief DEFAULT;
