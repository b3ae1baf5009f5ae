-- Where the columns of a type's table and its model disagree: columns that are not there, that cannot hold what the model brings, and
-- that must be filled and are not.
-- for: internal
create or replace function livewell_private.findings_on_columns(p_type livewell_private.data_type, p_columns jsonb)
returns table (severity text, problem text, message text, fix text)
language sql stable
set search_path = pg_catalog, pg_temp as $$
    with stored as (
        select c.name, c.type as column_type, c.value, a.atttypid, a.attnotnull, coalesce(b.typcategory, t.typcategory) as category,
            p_columns -> c.name ->> 'type' as model_type, coalesce((p_columns -> c.name ->> 'nullable')::boolean, false) as nullable
        from unnest(livewell_private.stored_columns(
            p_type, livewell_private.find_relation(p_type.table_name), array(select jsonb_object_keys(p_columns))
        )) as c
        left join pg_catalog.pg_attribute as a
            on a.attrelid = livewell_private.find_relation(p_type.table_name) and a.attname = c.name and a.attnum > 0 and not a.attisdropped
        left join pg_catalog.pg_type as t on t.oid = a.atttypid
        left join pg_catalog.pg_type as b on b.oid = t.typbasetype
    )
    select 'error', 'no_column', format('%s has no column %s', p_type.table_name, s.name),
        format('add it, or take the field out of the model: alter table %s add %I …', p_type.table_name, s.name)
    from stored as s where s.column_type is null
    union all
    select 'error', 'column_type', format('%s of %s is %s, the model has %s', s.name, p_type.table_name, s.column_type, s.model_type),
        'change the column or the model'
    from stored as s
    where s.model_type is not null and s.column_type is not null and s.value is not null and s.name <> p_type.time_column
        and s.atttypid not in ('json'::regtype, 'jsonb'::regtype) and s.category <> 'S' and not case s.model_type
            when 'any' then true
            when 'integer' then s.category = 'N'
            when 'number' then s.category = 'N' and s.atttypid not in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
            when 'string' then s.category in ('E', 'U', 'I')
            when 'boolean' then s.category = 'B'
            when 'timestamp' then s.category = 'D' and s.atttypid <> 'date'::regtype
            when 'date' then s.category = 'D'
            when 'array' then s.category = 'A'
            else s.category = 'C'
        end
    union all
    select 'warning', 'may_be_null', format('%s of %s is not null, but may be in the model', s.name, p_type.table_name),
        'a row without it would be refused'
    from stored as s where s.attnotnull and s.nullable and s.value is not null
    union all
    select 'error', 'never_filled', format('%s of %s must be filled, and the model does not', a.attname, p_type.table_name),
        format('alter table %s alter %I drop not null, or give it a default', p_type.table_name, a.attname)
    from pg_catalog.pg_attribute as a
    where a.attrelid = livewell_private.find_relation(p_type.table_name) and a.attnum > 0 and not a.attisdropped
        and a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = ''
        and not exists (select from stored as s where s.name = a.attname and s.value is not null)
$$;
