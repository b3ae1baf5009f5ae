-- Warnings by hour, code and subject, the newest hours first when ordered by hour.
-- for: service
create view livewell.warnings as
select w.hour, w.code, w.subject, w.warnings, w.message, w.first_at, w.last_at
from livewell.warning as w;
