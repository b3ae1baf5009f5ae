-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.flight as (provider text, endpoint text, api_key text, calls bigint, bytes bigint);
