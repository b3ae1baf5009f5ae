-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Jobs that wait or run, as the rooms above look them up by their dedupe keys, which one index does.
-- for: internal
create view livewell_private.live_jobs as
select j.id, j.dedupe_key, j.state, j.waiting_for, j.due_at, j.failures from livewell_private.job_live as j where j.dedupe_key is not null;

-- columns:
--   id bigint
--   dedupe_key text
--   state text
--   waiting_for text
--   due_at timestamp with time zone
--   failures integer

