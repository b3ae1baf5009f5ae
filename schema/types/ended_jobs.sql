-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.ended_jobs as (ids bigint[], states text[], serial_keys text[], kinds text[], spent livewell_private.spent_call[]);
