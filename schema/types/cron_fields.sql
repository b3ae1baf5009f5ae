-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.cron_fields as (minutes integer[], hours integer[], days integer[], months integer[], weekdays integer[], both_days_must_match boolean, follows_real_time boolean);
