-- What a type is, without its name and the times of its row; null of none.
-- for: internal
create or replace function livewell_private.type_content(p_type livewell_private.data_type) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
    select to_jsonb(p_type) - '{name,created_at,updated_at}'::text[] where (p_type).name is not null
$$;
