-- Refreshes of every type have their lane from the beginning: opened by the first who watches, it would be theirs until they commit, and
-- everybody else of the type would wait.
insert into livewell_private.job_lane (kind, endpoint)
select 'refresh.' || t.name, t.endpoint
from livewell_private.data_type as t
where exists (select from livewell_private.job_kind as k where k.kind = 'refresh.' || t.name)
order by t.name
on conflict do nothing;
