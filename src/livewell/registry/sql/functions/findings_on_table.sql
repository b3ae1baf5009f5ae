-- What is wrong with the table of a type: the table itself, the types of its columns, and that nothing leads from a key to its
-- newest row.
-- for: internal
create or replace function livewell_private.findings_on_table(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_table constant oid := livewell_private.find_relation(p_type.table_name);
    v_grant constant text := (
        select format('grant insert, update on %s to livewell_writer', p_type.table_name)
        from pg_catalog.pg_class as c
        where c.oid = v_table and c.relkind in ('r', 'p') and not (
            pg_catalog.has_table_privilege('livewell_writer', c.oid, 'insert')
            and pg_catalog.has_table_privilege('livewell_writer', c.oid, 'update')
        )
    );
begin
    return query
    select f.severity, f.problem, f.message, concat_ws('; ', f.fix, case when f.fix like 'grant select on %' then v_grant end)
    from livewell_private.findings_on_relation(
        p_type.table_name, array[p_type.key_column, p_type.time_column, p_type.ttl_column, p_type.source_time_column]
    ) as f;
    return query
    select 'error', 'column_type', format('%s of %s is %s', a.attname, p_type.table_name, format_type(a.atttypid, null)), w.fix
    from (
        values
        (p_type.time_column, array['timestamptz', 'timestamp'], 'time_column must be timestamptz, or timestamp in UTC'),
        (p_type.ttl_column, array['interval', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8'],
         'ttl_column must be interval, or a number of minutes')
    ) as w (name, types, fix)
    join pg_catalog.pg_attribute as a on a.attrelid = v_table and a.attname = w.name and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type as t on t.oid = a.atttypid
    where not t.typname = any (w.types);
    return query
    select 'warning', 'no_index', format('no index of %s begins with %s', p_type.table_name, p_type.key_column),
        format('create index on %s (%I, %I desc nulls last)', p_type.table_name, p_type.key_column, p_type.time_column)
    from pg_catalog.pg_attribute as a join pg_catalog.pg_class as c on c.oid = a.attrelid
    where a.attrelid = v_table and a.attname = p_type.key_column and not a.attisdropped and c.relkind in ('r', 'p', 'm')
        and not exists (
            select from pg_catalog.pg_index as i
            where i.indrelid = v_table and i.indkey[0] = a.attnum and i.indisvalid and i.indpred is null
        );
    return query
    select 'warning', 'not_writable', format('livewell_writer may not write to %s', p_type.table_name), v_grant
    where v_grant is not null;
end $$;
