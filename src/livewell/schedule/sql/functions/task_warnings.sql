-- Rolls fresh warnings up into their hours, and drops those past their retention.
-- for: internal
create or replace function livewell_private.task_warnings(p_now timestamptz) returns jsonb
language sql
set search_path = pg_catalog, pg_temp as $$
    select livewell_private.roll_up_warnings(livewell.setting_interval('warnings.retention'), p_now);
$$;
