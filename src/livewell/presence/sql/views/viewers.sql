-- Which items are looked at, and by how many distinct users now and on average.
-- for: service
create view livewell.viewers as
select i.id as item_id, i.data_type, i.key, i.viewers, i.viewers_average, i.watched_since, i.due_at
from livewell_private.item as i
where i.watched;
