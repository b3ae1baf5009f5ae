-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- A user's own sessions, and nobody else's: whose they are is told by the claims.
-- for: user
create view livewell.my_sessions with (security_barrier) as
select
    s.id, s.gateway is not null as kept_by_a_gateway, coalesce(g.last_seen, s.last_seen) as last_seen, s.created_at,
    (select count(*) from livewell_private.subscription as c where c.session_id = s.id) as items
from livewell_private.session as s left join livewell_private.gateway as g on g.name = s.gateway
where s.user_id = livewell.current_user_id();

-- columns:
--   id uuid
--   kept_by_a_gateway boolean
--   last_seen timestamp with time zone
--   created_at timestamp with time zone
--   items bigint

grant select on table livewell.my_sessions to livewell_user;
