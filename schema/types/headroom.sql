-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.headroom as (limits livewell_private.limit_headroom[], has_keys boolean, quotas livewell_private.quota_headroom[]);
