-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.ended_refresh as (job_id bigint, item_id bigint, outcome text, reason text, hash bytea, bytes bigint, worker text, started_at timestamp with time zone);
