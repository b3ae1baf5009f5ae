-- Who looked at what by the hour and type: items, distinct viewers and subscriptions, on average and at most, from samples.
-- for: service
create view livewell.subscription_hours as
select
    h.hour, h.data_type, h.samples,
    h.items_sum::double precision / h.samples as items, h.items_max,
    h.viewers_sum::double precision / h.samples as viewers, h.viewers_max,
    h.subscriptions_sum::double precision / h.samples as subscriptions, h.subscriptions_max
from livewell_private.subscription_hour as h;
