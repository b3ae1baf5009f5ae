-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell.storing as (problem text, type livewell.data_type, columns livewell.stored_column[], row_key text[]);
