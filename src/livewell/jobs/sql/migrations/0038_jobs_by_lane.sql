-- livewell: no transaction
-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- One index of what runs, by lane and lease: it finds what ran out, and counts what runs at an endpoint, whose jobs are in
-- lanes of their own. A claim writes it anyway; an index of endpoints and states beside it cost a claim of 500 a millisecond.
create index concurrently if not exists job_live_running
on livewell_private.job_live (lane_id, lease_until) where state = 'processing';

-- How many jobs wait for an endpoint: written when they are queued, and not when they are claimed.
create index concurrently if not exists job_live_waiting
on livewell_private.job_live (endpoint) where state = 'pending' and endpoint is not null;

drop index concurrently if exists livewell_private.job_live_endpoint;
drop index concurrently if exists livewell_private.job_live_lease;
