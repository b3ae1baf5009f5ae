-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.chosen_job as (place tid, lane_id integer, tokens integer, bytes bigint, api_key text, key_limit text, bundle bigint, is_passenger boolean);
