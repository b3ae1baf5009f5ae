-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.lane_allowance as (requests bigint, free_slots integer, tokens bigint, bytes bigint, bytes_per_job bigint, lowest_priority integer);
