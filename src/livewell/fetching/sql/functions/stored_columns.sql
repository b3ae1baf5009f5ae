-- What is written to each column of a type's table when rows with these columns come, as expressions over e (the refresh: key and
-- source time) and r (its row): the model's columns, the key, the time of the fetch and of the source, and when it was first seen.
-- A column that the table lacks has no type. Without a value: read, but not written. A key has no length: a cast to one would cut it.
-- for: internal
create or replace function livewell_private.stored_columns(p_type livewell_private.data_type, p_table oid, p_columns text[])
returns livewell_private.stored_column[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(row (
            w.name, f.type, w.name = any (p_columns) and not m.is_made and w.name <> p_type.time_column, case
                when w.name = p_type.key_column then format('e.key::%s', f.type)
                when w.name = p_type.time_column then n.now
                when m.is_made then null
                when w.name = p_type.source_time_column and a.atttypid = 'timestamptz'::regtype and w.name = any (p_columns)
                    then format('coalesce(r.%I, e.source_time)', w.name)
                when w.name = any (p_columns) then format('r.%I', w.name)
                when w.name = p_type.source_time_column and a.atttypid = 'timestamptz'::regtype then 'e.source_time'
                when w.name = p_type.source_time_column then format('(e.source_time at time zone ''UTC'')::%s', f.type)
                else n.now
            end,
            w.name not in (p_type.key_column, 'first_seen_at'), a.attnotnull or w.name = p_type.key_column
        )::livewell_private.stored_column order by a.attnum)
        from (
            select unnest(p_columns) as name
            union
            select unnest(array[p_type.key_column, p_type.time_column, p_type.source_time_column])
            union
            select f.attname from pg_catalog.pg_attribute as f
            where f.attrelid = p_table and f.attname = 'first_seen_at' and not f.attisdropped
                and f.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype)
        ) as w
        left join pg_catalog.pg_attribute as a on a.attrelid = p_table and a.attname = w.name and a.attnum > 0 and not a.attisdropped
        cross join lateral (
            select pg_catalog.format_type(a.atttypid, case when w.name = p_type.key_column then -1 else a.atttypmod end) as type
        ) as f
        cross join lateral (
            select coalesce(a.attgenerated <> '' or a.attidentity = 'a' or w.name = p_type.ttl_column, false) as is_made
        ) as m
        cross join lateral (select case when a.atttypid = 'timestamp'::regtype then '($1 at time zone ''UTC'')' else '$1' end as now) as n
        where w.name is not null
    );
end $$;
