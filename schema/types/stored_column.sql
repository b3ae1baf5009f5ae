-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.stored_column as (name text, type text, in_rows boolean, value text, is_changed boolean, is_filled boolean);
