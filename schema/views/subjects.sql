-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Subjects, their owners, and with how many users each is shared.
-- for: service
create view livewell.subjects as
select s.id, s.kind, s.owner, s.tenant, s.created_at, (select count(*) from livewell_private.share as h where h.subject = s.id) as shares
from livewell_private.subject as s;

-- columns:
--   id text
--   kind text
--   owner text
--   tenant text
--   created_at timestamp with time zone
--   shares bigint

grant select on table livewell.subjects to livewell_service;
