-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- How far the walks of scheduled types have come: when the next begins, when the one under way began and the key it has reached,
-- and how many keys it looked at and queued.
-- for: service
create view livewell.scheduled_walks as
select w.data_type, w.cron, w.time_zone, w.next_at, w.begun_at, w.reached, w.wanted, w.keys, w.queued, w.sliced_at, w.ended_at
from livewell_private.scheduled_walk as w;

-- columns:
--   data_type text
--   cron text
--   time_zone text
--   next_at timestamp with time zone
--   begun_at timestamp with time zone
--   reached text
--   wanted boolean
--   keys bigint
--   queued bigint
--   sliced_at timestamp with time zone
--   ended_at timestamp with time zone

grant select on table livewell.scheduled_walks to livewell_service;
