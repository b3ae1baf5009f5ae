-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

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

-- columns:
--   hour timestamp with time zone
--   data_type text
--   audience text
--   viewer_minutes double precision
--   within_ttl double precision
--   fresh double precision
--   ok double precision
--   w50 double precision
--   w99 double precision
--   overdue50 double precision
--   overdue99 double precision
--   fetches bigint
--   unchanged double precision
--   samples bigint
--   samples_fresh double precision
--   samples_ok double precision

grant select on table livewell.freshness to livewell_service;
