-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.quota_headroom as (provider text, bytes bigint, is_low boolean, allowed bigint, used bigint, in_flight bigint, counted bigint, bucket double precision, returned bigint, level integer);
