-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.wanted_refresh as (item_id bigint, priority integer, cause text, asked_by text, never_stored boolean);
