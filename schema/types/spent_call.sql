-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.spent_call as (endpoint text, api_key text, subject text, started_at timestamp with time zone, reserved_bytes bigint, reserved_tokens integer, bytes bigint, tokens integer, outcome text, rate jsonb, is_passenger boolean);
