-- What the owner declares of a data type. There is no default TTL.
-- for: internal
create or replace function livewell.declared_type() returns livewell.declared_thing
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select livewell.describe_thing('type', 'livewell.data_type', 'LWR03', array['name', 'created_at', 'updated_at'])
$$;
