-- What was only held for new rows holds for all of them; reading them locks out no reader and no writer.
alter table livewell_private.job_kind validate constraint kind_request_serves_some_jobs;
