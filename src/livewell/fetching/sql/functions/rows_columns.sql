-- The columns that the rows of refreshes have, all together. Rows of one model have the same, which is quickly seen.
-- for: internal
create or replace function livewell_private.rows_columns(p_ended livewell_private.ended_fetch[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_columns text[];
begin
    v_columns := array(
        select k.name from jsonb_object_keys((
            select e.rows -> 0 from unnest(p_ended) as e where jsonb_typeof(e.rows -> 0) = 'object' limit 1
        )) as k (name)
    );
    if exists (
        select from unnest(p_ended) as e, jsonb_array_elements(e.rows) as r (fields)
        where case when jsonb_typeof(r.fields) = 'object' then r.fields - v_columns <> '{}' end
    ) then
        v_columns := array(
            select distinct k.name
            from unnest(p_ended) as e, jsonb_array_elements(e.rows) as r (fields),
                jsonb_object_keys(case when jsonb_typeof(r.fields) = 'object' then r.fields else '{}' end) as k (name)
        );
    end if;
    return v_columns;
end $$;
