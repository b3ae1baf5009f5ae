-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Who looked at what by the hour and type: items, distinct viewers and subscriptions, on average and at most, from samples.
-- for: service
create view livewell.subscription_hours as
select
    h.hour, h.data_type, h.samples,
    h.items_sum::double precision / h.samples as items, h.items_max,
    h.viewers_sum::double precision / h.samples as viewers, h.viewers_max,
    h.subscriptions_sum::double precision / h.samples as subscriptions, h.subscriptions_max
from livewell_private.subscription_hour as h;

-- columns:
--   hour timestamp with time zone
--   data_type text
--   samples integer
--   items double precision
--   items_max integer
--   viewers double precision
--   viewers_max integer
--   subscriptions double precision
--   subscriptions_max integer

grant select on table livewell.subscription_hours to livewell_service;
