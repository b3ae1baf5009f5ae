-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.spending as (endpoint text, provider text, api_key text, key_limit text, requests bigint, tokens bigint, bytes bigint);
