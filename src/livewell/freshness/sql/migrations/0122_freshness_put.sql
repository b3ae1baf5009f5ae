-- When an item was put last, and from when the source said that was: a fetch that had begun by then brings nothing newer.
alter table livewell_private.item add column put_at timestamptz, add column put_source_time timestamptz;

-- What was stored before there were versions has one, too.
update livewell_private.item as i
set version = greatest(1, floor(extract(epoch from i.fetched_at) * 1000000)::bigint)
where i.fetched_at is not null and i.version = 0;
