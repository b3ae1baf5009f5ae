-- livewell: no transaction
-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- A job waits behind another of its serial key only within its lane, because another lane may be closed: paused, full, or
-- served by nobody. One index finds what is ready of a key, one what is parked, and neither reads past the other's.
create index concurrently if not exists job_live_ready_of_serial_key
on livewell_private.job_live (serial_key, priority desc, due_at, id)
where state = 'pending' and held is null and serial_key is not null;

create index concurrently if not exists job_live_parked
on livewell_private.job_live (serial_key, lane_id, priority desc, due_at, id) where held = 'serial';

drop index concurrently if exists livewell_private.job_live_serial;
