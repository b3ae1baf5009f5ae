-- Whether two contents of a type are the same; a TTL is compared as a length of time, however it is written.
-- for: internal
create or replace function livewell_private.same_type(p_old jsonb, p_new jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select p_old - 'ttl' = p_new - 'ttl' and (p_old ->> 'ttl')::interval is not distinct from (p_new ->> 'ttl')::interval
$$;
