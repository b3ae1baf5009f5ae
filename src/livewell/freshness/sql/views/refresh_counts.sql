-- How many refreshes of each type were completed, ever; their jobs are dropped after `jobs.retention.refreshes`.
-- for: service
create view livewell.refresh_counts as
select t.name as data_type, (coalesce(y.refreshes, 0) + coalesce(l.refreshes, 0))::bigint as refreshes
from livewell_private.data_type as t
left join livewell_private.type_learning as y on y.data_type = t.name
left join (select n.data_type, sum(n.refreshes) as refreshes from livewell_private.learned as n group by n.data_type) as l on l.data_type = t.name;
