-- Who calls, also from inside a function that runs as its owner: the role that was set, or the login.
-- for: internal
create or replace function livewell_private.calling_role() returns name
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select coalesce(nullif(current_setting('role'), 'none')::name, session_user)
$$;
