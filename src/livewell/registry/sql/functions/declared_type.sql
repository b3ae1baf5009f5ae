-- What the owner declares of a data type. There is no default TTL.
-- for: internal
create or replace function livewell_private.declared_type() returns livewell_private.declared_thing
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select livewell_private.describe_thing('type', 'livewell_private.data_type', 'LWR03', array['name', 'created_at', 'updated_at'])
$$;
