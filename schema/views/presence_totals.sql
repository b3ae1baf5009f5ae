-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- How many sessions, gateways and users at items there are at this moment.
-- for: service
create view livewell.presence_totals as
select
    (select count(*) from livewell_private.session) as sessions,
    (select count(*) from livewell_private.gateway) as gateways,
    (select count(*) from livewell_private.subscription) as subscriptions,
    (select count(*) from livewell_private.item as i where i.watched) as items;

-- columns:
--   sessions bigint
--   gateways bigint
--   subscriptions bigint
--   items bigint

grant select on table livewell.presence_totals to livewell_service;
