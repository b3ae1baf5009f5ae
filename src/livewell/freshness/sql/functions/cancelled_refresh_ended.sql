-- Tells the item of a cancelled refresh that it has ended.
-- for: internal
create or replace function livewell_private.cancelled_refresh_ended() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.refresh_jobs_ended(array[new.id], new.finished_at);
    return null;
end $$;
