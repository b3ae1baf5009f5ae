-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Warnings by hour, code and subject, the newest hours first when ordered by hour.
-- for: service
create view livewell.warnings as
select w.hour, w.code, w.subject, w.warnings, w.message, w.first_at, w.last_at
from livewell.warning as w;

-- columns:
--   hour timestamp with time zone
--   code text
--   subject text
--   warnings bigint
--   message text
--   first_at timestamp with time zone
--   last_at timestamp with time zone

grant select on table livewell.warnings to livewell_service;
