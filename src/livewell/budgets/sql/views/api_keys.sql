-- Keys: where each is found, whose limits it shares, and how often it was granted; never the key.
-- for: service
create view livewell.api_keys as
select
    k.provider, k.name, k.scope, k.source, k.enabled, k.requests_per_minute, k.requests_per_hour, k.tokens_per_minute,
    k.tokens_per_hour, k.concurrent, k.granted, k.created_at, k.updated_at
from livewell_private.api_key as k;
