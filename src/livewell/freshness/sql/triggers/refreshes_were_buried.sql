-- Refreshes that failed for good leave their items waiting for nothing; once for a batch, however many there are.
create or replace trigger refreshes_were_buried
after insert on livewell_private.job_failed
referencing new table as dead
for each statement
execute function livewell_private.refreshes_failed();
