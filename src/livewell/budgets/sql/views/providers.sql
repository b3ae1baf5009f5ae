-- Providers with what a person may set.
-- for: service
create view livewell.providers as
select
    p.name, p.state, p.description, p.base_url, p.quota_bytes, p.quota_window, p.quota_use, p.pace, p.pace_bucket, p.policy,
    p.hosts, p.key_in, p.allow_private, p.created_at, p.updated_at
from livewell_private.provider as p;
