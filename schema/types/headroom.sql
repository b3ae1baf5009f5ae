-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell.headroom as (limits livewell.limit_headroom[], has_keys boolean, quotas livewell.quota_headroom[]);
