-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Where presence is read from, and how that went last.
-- for: service
create view livewell.presence_sources as
select
    s.name, s.reads, s.every, s.enabled, s.read_at, s.last_ok_at, s.silent_since, s.last_error, s.rows_read, s.rows_skipped,
    (select count(*) from livewell_private.session as o where o.gateway = 'source:' || s.name) as users
from livewell_private.presence_source as s;

-- columns:
--   name text
--   reads text
--   every interval
--   enabled boolean
--   read_at timestamp with time zone
--   last_ok_at timestamp with time zone
--   silent_since timestamp with time zone
--   last_error text
--   rows_read integer
--   rows_skipped integer
--   users bigint

grant select on table livewell.presence_sources to livewell_service;
