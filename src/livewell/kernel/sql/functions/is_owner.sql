-- Whether a role has the rights of the schema's owner, or can take them: a superuser, or a member of livewell_owner.
-- for: internal
create or replace function livewell_private.is_owner(p_role name) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select pg_catalog.pg_has_role(p_role, 'livewell_owner', 'member')
$$;
