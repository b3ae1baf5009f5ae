-- In whose name a user's refreshes on subscribing wait: the user's own, but all anonymous users share one.
-- for: internal
create or replace function livewell_private.asker_of(p_user text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case when livewell_private.is_anonymous(p_user) then 'anon:' else p_user end
$$;
