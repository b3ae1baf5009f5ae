-- The table or view of a qualified name, exactly as it is written; null when there is none.
-- for: internal
create or replace function livewell_private.find_relation(p_name text) returns oid
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select c.oid
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = split_part(p_name, '.', 1) and c.relname = split_part(p_name, '.', 2)
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
$$;
