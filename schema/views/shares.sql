-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- What is shared with whom, by whom and since when.
-- for: service
create view livewell.shares as
select h.subject, h.user_id, h.rights, h.shared_by, h.since from livewell_private.share as h;

-- columns:
--   subject text
--   user_id text
--   rights text
--   shared_by text
--   since timestamp with time zone

grant select on table livewell.shares to livewell_service;
