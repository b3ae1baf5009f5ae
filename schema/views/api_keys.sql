-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Keys: where each is found, whose limits it shares, and how often it was granted; never the key.
-- for: service
create view livewell.api_keys as
select
    k.provider, k.name, k.scope, k.source, k.enabled, k.requests_per_minute, k.requests_per_hour, k.tokens_per_minute,
    k.tokens_per_hour, k.concurrent, k.granted, k.created_at, k.updated_at
from livewell_private.api_key as k;

-- columns:
--   provider text
--   name text
--   scope text
--   source text
--   enabled boolean
--   requests_per_minute integer
--   requests_per_hour integer
--   tokens_per_minute integer
--   tokens_per_hour integer
--   concurrent integer
--   granted bigint
--   created_at timestamp with time zone
--   updated_at timestamp with time zone

grant select on table livewell.api_keys to livewell_service;
