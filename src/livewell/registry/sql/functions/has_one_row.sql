-- Whether a key of a type has one row: in Livewell's own table, or where the key column of its table alone is unique.
-- for: internal
create or replace function livewell_private.has_one_row(p_type livewell_private.data_type) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select (p_type).table_name is null or exists (
        select from pg_catalog.pg_index as i
        join pg_catalog.pg_attribute as k on k.attrelid = i.indrelid and k.attnum = i.indkey[0]
        where i.indrelid = livewell_private.find_relation((p_type).table_name) and k.attname = (p_type).key_column
            and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1
    )
$$;
