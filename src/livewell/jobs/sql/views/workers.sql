-- The workers that are there.
-- for: service
create view livewell.workers as
select w.id, w.queue_groups, w.kinds, w.slots, w.idle, w.started_at, w.last_seen from livewell_private.worker as w;
