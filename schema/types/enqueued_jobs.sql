-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.enqueued_jobs as (positions integer[], ids bigint[], outcomes text[], kinds text[], has_serial_keys boolean, left_over integer[]);
