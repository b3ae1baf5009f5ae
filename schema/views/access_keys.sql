-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Access keys without what would open anything: what each may, for whom, until when, and in which hour it was last used.
-- for: service
create view livewell.access_keys as
select k.id, k.name, k.scopes, k.user_id, k.tenant, k.expires_at, k.revoked_at, k.last_used, k.created_at, k.created_by
from livewell_private.access_key as k;

-- columns:
--   id text
--   name text
--   scopes text[]
--   user_id text
--   tenant text
--   expires_at timestamp with time zone
--   revoked_at timestamp with time zone
--   last_used timestamp with time zone
--   created_at timestamp with time zone
--   created_by text

grant select on table livewell.access_keys to livewell_service;
