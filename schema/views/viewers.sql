-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Which items are looked at, and by how many distinct users now and on average.
-- for: service
create view livewell.viewers as
select i.id as item_id, i.data_type, i.key, i.viewers, i.viewers_average, i.watched_since, i.due_at
from livewell_private.item as i
where i.watched;

-- columns:
--   item_id bigint
--   data_type text
--   key text
--   viewers integer
--   viewers_average double precision
--   watched_since timestamp with time zone
--   due_at timestamp with time zone

grant select on table livewell.viewers to livewell_service;
