-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell.storing as (problem text, many boolean, lock_keys text, store_rows text, touch_keys text);
