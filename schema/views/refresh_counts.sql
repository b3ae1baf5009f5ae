-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- How many refreshes of each type were completed, ever; their jobs are dropped after `jobs.retention.refreshes`.
-- for: service
create view livewell.refresh_counts as
select t.name as data_type, (coalesce(y.refreshes, 0) + coalesce(l.refreshes, 0))::bigint as refreshes
from livewell_private.data_type as t
left join livewell_private.type_learning as y on y.data_type = t.name
left join (select n.data_type, sum(n.refreshes) as refreshes from livewell_private.learned as n group by n.data_type) as l on l.data_type = t.name;

-- columns:
--   data_type text
--   refreshes bigint

grant select on table livewell.refresh_counts to livewell_service;
