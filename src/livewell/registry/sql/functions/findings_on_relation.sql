-- What keeps a type from reading a user's table: that it is not there, lacks a column, or may not be read.
-- for: internal
create or replace function livewell_private.findings_on_relation(p_relation text, p_columns text[])
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_schema constant text := split_part(p_relation, '.', 1);
    v_oid constant oid := livewell_private.find_relation(p_relation);
begin
    if v_oid is null then
        return query select 'error', 'no_table', format('there is no table or view %s', p_relation),
            'create it, or write enabled = false until it is there';
        return;
    end if;
    return query
    select 'error', 'no_column', format('%s has no column %s', p_relation, w.name), 'it has ' || (
        select string_agg(a.attname, ', ' order by a.attnum) from pg_catalog.pg_attribute as a
        where a.attrelid = v_oid and a.attnum > 0 and not a.attisdropped
    )
    from unnest(p_columns) as w (name)
    where w.name is not null and not exists (
        select from pg_catalog.pg_attribute as a
        where a.attrelid = v_oid and a.attname = w.name and a.attnum > 0 and not a.attisdropped
    );
    if not pg_catalog.has_schema_privilege('livewell_reader', v_schema, 'usage') then
        return query select 'error', 'no_right', format('livewell_reader may not use schema %s', v_schema),
            format('grant usage on schema %I to livewell_reader', v_schema);
    end if;
    if not pg_catalog.has_table_privilege('livewell_reader', v_oid, 'select') then
        return query select 'error', 'no_right', format('livewell_reader may not read %s', p_relation),
            format('grant select on %I.%I to livewell_reader', v_schema, split_part(p_relation, '.', 2));
    end if;
end $$;
