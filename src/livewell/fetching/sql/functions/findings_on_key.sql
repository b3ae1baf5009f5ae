-- What keeps the rows of a model from being known again in its table: no unique key to find them by, a part of it that may be null,
-- a rule on source times without the column that has them.
-- for: internal
create or replace function livewell_private.findings_on_key(p_type livewell_private.data_type, p_columns jsonb)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_table constant oid := livewell_private.find_relation(p_type.table_name);
    v_columns constant livewell_private.stored_column[] := livewell_private.stored_columns(
        p_type, v_table, array(select jsonb_object_keys(p_columns))
    );
    v_unique constant text[] := livewell_private.stored_key(p_type, v_table, v_columns);
begin
    if v_unique is null then
        return query select 'error', 'no_unique_key',
            format('no unique key of %s has %s in it and only columns that are stored', p_type.table_name, p_type.key_column),
            format('create unique index on %s (%I), with what tells the rows of a key apart', p_type.table_name, p_type.key_column);
    end if;
    return query
    select 'error', 'key_may_be_null', format('%s of %s tells rows apart, but may be null', c.name, p_type.table_name),
        format('alter table %s alter %I set not null', p_type.table_name, c.name)
    from unnest(v_columns) as c
    where c.name = any (v_unique) and not c.is_filled and coalesce((p_columns -> c.name ->> 'nullable')::boolean, false);
    if p_type.source_rule is not null and p_type.source_time_column is null then
        return query select 'error', 'no_source_time', format('%s has a rule for source times, but no column that has them', p_type.name),
            'write source_time.column = "…", or source_time = true on the field that is it';
    end if;
end $$;
