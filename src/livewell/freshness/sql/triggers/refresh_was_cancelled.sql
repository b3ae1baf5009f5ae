-- A refresh that is cancelled ends without an answer; of all other jobs this asks two fields and goes on.
create or replace trigger refresh_was_cancelled
after insert on livewell_private.job_done
for each row when (new.state = 'cancelled' and new.kind like 'refresh.%')
execute function livewell_private.cancelled_refresh_ended();
