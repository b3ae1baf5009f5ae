-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.endpoint_calls as (provider text, endpoint text, api_key text, key_limit text, calls bigint, bytes bigint);
