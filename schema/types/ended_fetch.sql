-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.ended_fetch as (job bigint, token uuid, item bigint, type text, key text, outcome text, rows jsonb, many boolean, source_time timestamp with time zone, hash text, etag text, last_modified text, reason text, message text, seconds double precision, status integer, bytes bigint, tokens integer, rate jsonb, sent boolean, volatile text[]);
