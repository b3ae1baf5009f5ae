-- Whether a user is anonymous: its name begins with `anon:`, as one has it whose claims say so, or whom a gateway names so.
-- for: internal
create or replace function livewell_private.is_anonymous(p_user text) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select p_user like 'anon:%'
$$;
