-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.judged_key as (key text, newest timestamp with time zone, ttl interval, stale boolean, error text);
