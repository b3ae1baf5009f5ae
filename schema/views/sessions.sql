-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Who is there: each session with its user, how it is kept alive, when it was last seen, and how many items it looks at.
-- for: service
create view livewell.sessions as
select
    s.id, s.user_id, s.gateway, coalesce(g.last_seen, s.last_seen) as last_seen, s.created_at,
    (select count(*) from livewell_private.subscription as c where c.session_id = s.id) as items
from livewell_private.session as s left join livewell_private.gateway as g on g.name = s.gateway;

-- columns:
--   id uuid
--   user_id text
--   gateway text
--   last_seen timestamp with time zone
--   created_at timestamp with time zone
--   items bigint

grant select on table livewell.sessions to livewell_service;
