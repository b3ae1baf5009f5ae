-- Who is there: each session with its user, how it is kept alive, when it was last seen, and how many items it looks at.
-- for: service
create view livewell.sessions as
select
    s.id, s.user_id, s.gateway, coalesce(g.last_seen, s.last_seen) as last_seen, s.created_at,
    (select count(*) from livewell_private.subscription as c where c.session_id = s.id) as items
from livewell_private.session as s left join livewell_private.gateway as g on g.name = s.gateway;
