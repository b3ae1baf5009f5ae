-- What viewers saw, hour by hour, by type and audience (all viewers; those who were alone with an item). Shares are of
-- viewer-minutes; waits and ages in minutes.
-- for: service
create view livewell.freshness as
select
    h.hour, h.data_type, h.audience, h.viewer_minutes, h.within_ttl / nullif(h.viewer_minutes, 0) as within_ttl,
    h.fresh / nullif(h.viewer_minutes, 0) as fresh, h.ok / nullif(h.viewer_minutes, 0) as ok,
    livewell.wait_quantile(h.waits, 0.5) as w50, livewell.wait_quantile(h.waits, 0.99) as w99,
    livewell.wait_quantile(h.overdue, 0.5) as overdue50, livewell.wait_quantile(h.overdue, 0.99) as overdue99, h.fetches,
    1 - h.changes / nullif(h.fetches, 0)::double precision as unchanged, h.samples,
    h.samples_fresh / nullif(h.samples, 0)::double precision as samples_fresh,
    h.samples_ok / nullif(h.samples, 0)::double precision as samples_ok
from livewell_private.freshness_hour as h;
