-- Whether nothing is notified now, because the server's notification queue is filling up: who waits for notices looks more often.
-- for: service
create or replace function livewell.notices_are_quiet() returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
    select coalesce(bool_or(s.quiet), false) from livewell_private.notification_state as s
$$;
