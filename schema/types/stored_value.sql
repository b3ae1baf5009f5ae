-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.stored_value as (key text, value jsonb, fetched_at timestamp with time zone);
