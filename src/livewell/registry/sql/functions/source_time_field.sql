-- The field that is declared as the source time; null when none is.
-- for: internal
create or replace function livewell_private.source_time_field(p_fields jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select min(f.key)
    from jsonb_each(case when jsonb_typeof(p_fields) = 'object' then p_fields else '{}' end) as f
    where f.value -> 'source_time' = 'true'
$$;
