-- livewell: no transaction
-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- How many jobs of an endpoint run, and how many wait.
create index concurrently if not exists job_live_endpoint on livewell_private.job_live (endpoint, state) where endpoint is not null;
