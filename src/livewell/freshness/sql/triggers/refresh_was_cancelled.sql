-- Completed refreshes teach their items themselves; these are the ends that would go unheard.
create or replace trigger refresh_was_cancelled
after insert on livewell_private.job_done
for each row when (new.state = 'cancelled' and new.kind like 'refresh.%')
execute function livewell_private.refresh_cancelled();
