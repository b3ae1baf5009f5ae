-- Whose tokens count, how they are signed, and where the secret or the keys are; the secret is there and not here.
-- for: service
create view livewell.issuers as
select i.name, i.issuer, i.audience, i.algorithm, i.secret, i.jwks, i.tenant_claim, i.role, i.scopes_claim, i.scopes, i.leeway, i.enabled, i.created_at, i.updated_at
from livewell_private.issuer as i;
