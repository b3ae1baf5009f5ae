-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.assessment as (item_id bigint, data_type text, key text, viewers integer, newest timestamp with time zone, ttl interval, stale boolean, error text, opens_at timestamp with time zone, score double precision, bytes double precision);
