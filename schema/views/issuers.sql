-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Whose tokens count, how they are signed, and where the secret or the keys are; the secret is there and not here.
-- for: service
create view livewell.issuers as
select i.name, i.issuer, i.audience, i.algorithm, i.secret, i.jwks, i.tenant_claim, i.role, i.scopes_claim, i.scopes, i.leeway, i.enabled, i.created_at, i.updated_at
from livewell_private.issuer as i;

-- columns:
--   name text
--   issuer text
--   audience text
--   algorithm text
--   secret text
--   jwks text
--   tenant_claim text
--   role text
--   scopes_claim text
--   scopes jsonb
--   leeway interval
--   enabled boolean
--   created_at timestamp with time zone
--   updated_at timestamp with time zone

grant select on table livewell.issuers to livewell_service;
