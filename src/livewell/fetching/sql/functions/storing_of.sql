-- How rows with these columns go into the table of a type: looked up in the catalog each time, so that a table that was altered is
-- met as it is now. Without columns nothing is stored, and only times are moved. The problem says why it cannot be, in words that
-- name the table.
-- for: internal
create or replace function livewell_private.storing_of(p_type livewell_private.data_type, p_columns text[]) returns livewell_private.storing
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_storing livewell_private.storing;
    v_table constant oid := livewell_private.find_relation(p_type.table_name);
begin
    v_storing.type := p_type;
    if v_table is null then
        v_storing.problem := format('there is no table %s', p_type.table_name);
        return v_storing;
    end if;
    v_storing.columns := livewell_private.stored_columns(p_type, v_table, p_columns);
    v_storing.row_key := livewell_private.stored_key(p_type, v_table, v_storing.columns);
    select format('%s has no column %s', p_type.table_name, min(c.name)) into v_storing.problem
    from unnest(v_storing.columns) as c where c.type is null having count(*) > 0;
    if v_storing.problem is null and v_storing.row_key is null and p_columns <> '{}' then
        v_storing.problem := format(
            'no unique key of %s has %s in it and only columns that are stored', p_type.table_name, p_type.key_column
        );
    end if;
    return v_storing;
end $$;
