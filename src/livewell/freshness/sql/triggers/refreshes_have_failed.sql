-- Refreshes that failed for good end without an answer; once for a batch, and only where jobs fail.
create or replace trigger refreshes_have_failed
after insert on livewell_private.job_failed
referencing new table as failed
for each statement
execute function livewell_private.failed_refreshes_ended();
