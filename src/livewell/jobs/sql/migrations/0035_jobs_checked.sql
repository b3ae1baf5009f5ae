-- Apart from the step that adds it, so that nobody waits while rows are looked through.
alter table livewell_private.job_live validate constraint job_live_leased_has_token;
