-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.job_brief_default partition of livewell.job_brief DEFAULT;
