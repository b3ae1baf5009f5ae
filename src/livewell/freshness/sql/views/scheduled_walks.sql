-- How far the walks of scheduled types have come: when the next begins, when the one under way began and the key it has reached,
-- and how many keys it looked at and queued.
-- for: service
create view livewell.scheduled_walks as
select w.data_type, w.cron, w.time_zone, w.next_at, w.begun_at, w.reached, w.wanted, w.keys, w.queued, w.sliced_at, w.ended_at
from livewell_private.scheduled_walk as w;
