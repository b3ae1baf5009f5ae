-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.decided_item as (item_id bigint, data_type text, key text, newest timestamp with time zone, ttl interval, error text, score double precision, endpoint text, decision text, due_at timestamp with time zone, priority integer);
