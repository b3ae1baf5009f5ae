-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.affordable_jobs as (places tid[], keys text[], rooms livewell_private.budget_rooms);
