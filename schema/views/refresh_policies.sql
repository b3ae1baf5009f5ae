-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- How each provider's refreshes are chosen: the policy in force, the price of a byte in minutes of viewers, and how full the
-- bucket of bytes is.
-- for: service
create view livewell.refresh_policies as
select
    p.name as provider, coalesce(p.policy, case when p.quota_bytes is null then 'viewers' else 'value' end) as policy, r.price,
    r.bucket_share, r.priced_at
from livewell_private.provider as p
left join livewell_private.byte_price as r on r.provider = p.name
where exists (select from livewell_private.endpoint as e join livewell_private.data_type as t on t.endpoint = e.name where e.provider = p.name);

-- columns:
--   provider text
--   policy text
--   price double precision
--   bucket_share double precision
--   priced_at timestamp with time zone

grant select on table livewell.refresh_policies to livewell_service;
