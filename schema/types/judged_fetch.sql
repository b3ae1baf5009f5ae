-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell.judged_fetch as (told livewell.ended_fetch, found livewell.fetch_verdict);
