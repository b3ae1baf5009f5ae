-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell.claim_view as (default_lease interval, lanes livewell.open_lane[], lease interval, has_serial_keys boolean, budgeted boolean);
