-- The session a source holds for a user: always the same, so that reading again finds it.
-- for: internal
create or replace function livewell_private.source_session(p_gateway text, p_user text) returns uuid
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select md5('livewell/' || p_gateway || '/' || p_user)::uuid
$$;
