-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.endpoint_headroom as (endpoint text, provider text, policy text, is_active boolean, quota_is_open boolean, bytes bigint, depth_limit bigint, depth bigint, soon bigint, new_keys bigint, at_once bigint);
