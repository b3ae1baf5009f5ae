-- Subjects, their owners, and with how many users each is shared.
-- for: service
create view livewell.subjects as
select s.id, s.kind, s.owner, s.tenant, s.created_at, (select count(*) from livewell_private.share as h where h.subject = s.id) as shares
from livewell_private.subject as s;
