-- A data type by its name, whole, for the functions of rooms above that hand it on; null when there is none.
-- for: internal
create or replace function livewell_private.type_named(p_name text) returns livewell_private.data_type
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select t from livewell_private.data_type as t where t.name = p_name
$$;
