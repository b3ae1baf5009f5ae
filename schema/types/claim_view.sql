-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.claim_view as (lanes livewell_private.open_lane[], default_lease interval, lease interval, has_serial_keys boolean, is_budgeted boolean);
