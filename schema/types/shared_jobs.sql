-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.shared_jobs as (counts integer[], places tid[]);
