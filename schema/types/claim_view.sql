-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.claim_view as (default_lease interval, lanes livewell_private.open_lane[], lease interval, has_serial_keys boolean, budgeted boolean);
