-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- The workers that are there.
-- for: service
create view livewell.workers as
select w.id, w.queue_groups, w.kinds, w.slots, w.idle, w.started_at, w.last_seen from livewell_private.worker as w;

-- columns:
--   id text
--   queue_groups text[]
--   kinds text[]
--   slots integer
--   idle boolean
--   started_at timestamp with time zone
--   last_seen timestamp with time zone

grant select on table livewell.workers to livewell_service;
