-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.storing as (problem text, type livewell_private.data_type, columns livewell_private.stored_column[], row_key text[]);
