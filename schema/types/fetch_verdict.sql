-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.fetch_verdict as (job bigint, outcome text, reason text, message text);
