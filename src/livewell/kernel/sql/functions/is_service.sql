-- Whether a role has the rights of the service, or of the owner: what is stored is theirs to read.
-- for: internal
create or replace function livewell_private.is_service(p_role name) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select pg_catalog.pg_has_role(p_role, 'livewell_service', 'usage') or pg_catalog.pg_has_role(p_role, 'livewell_owner', 'usage')
$$;
