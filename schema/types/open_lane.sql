-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.open_lane as (lane_id integer, kind text, queue_group text, share double precision, room integer, endpoint text, calls integer, call_bytes bigint, token_room bigint, byte_room bigint, lowest_priority integer, per_request integer);
