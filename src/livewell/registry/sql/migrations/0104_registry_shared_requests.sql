-- Refreshes of types that take several keys per request share one.
update livewell_private.job_kind as k set jobs_per_request = t.keys_per_request
from livewell_private.data_type as t
where k.kind = 'refresh.' || t.name and k.jobs_per_request <> t.keys_per_request;
