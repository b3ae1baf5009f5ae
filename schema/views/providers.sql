-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Providers with what a person may set.
-- for: service
create view livewell.providers as
select
    p.name, p.state, p.description, p.base_url, p.quota_bytes, p.quota_window, p.quota_use, p.pace, p.pace_bucket, p.policy,
    p.hosts, p.key_in, p.allow_private, p.created_at, p.updated_at
from livewell_private.provider as p;

-- columns:
--   name text
--   state text
--   description text
--   base_url text
--   quota_bytes bigint
--   quota_window interval
--   quota_use double precision
--   pace text
--   pace_bucket interval
--   policy text
--   hosts text[]
--   key_in text
--   allow_private boolean
--   created_at timestamp with time zone
--   updated_at timestamp with time zone

grant select on table livewell.providers to livewell_service;
