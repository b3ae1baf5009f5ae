-- Notifies at the commit, unless the server's notification queue is filling up: a commit whose notice finds no room fails, and
-- nothing inside it can prevent that any more. Who would have been told finds out by polling.
-- for: internal
create or replace function livewell_private.notify(p_channel text, p_payload text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform pg_notify(p_channel, p_payload) from livewell_private.notification_state as s where not s.quiet;
end $$;
