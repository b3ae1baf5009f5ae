-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.judged_fetch as (told livewell_private.ended_fetch, found livewell_private.fetch_verdict);
