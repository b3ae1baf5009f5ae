-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.ended_fetch as (job_id bigint, lease_token uuid, item_id bigint, data_type text, key text, outcome text, rows jsonb, many boolean, source_time timestamp with time zone, hash bytea, etag text, last_modified text, reason text, message text, seconds double precision, status integer, bytes bigint, tokens integer, rate jsonb, sent boolean, known_hash bytea);
