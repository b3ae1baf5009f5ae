-- A refresh that failed for good leaves its item waiting for nothing.
create or replace trigger refresh_was_buried
after insert on livewell.job_failed
for each row when (new.kind like 'refresh.%')
execute function livewell.refresh_ended();
