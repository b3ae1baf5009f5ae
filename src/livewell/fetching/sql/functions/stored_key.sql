-- The columns by which a stored row is known again: the primary key, or else the shortest unique key, that has the key column in it
-- and no column that is not stored. Null when there is none.
-- for: internal
create or replace function livewell_private.stored_key(p_type livewell_private.data_type, p_table oid, p_columns livewell_private.stored_column[])
returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select u.columns
        from pg_catalog.pg_index as i
        cross join lateral (
            select array_agg(a.attname::text order by k.at) as columns, bool_and(c.value is not null) as stored
            from unnest(i.indkey::smallint[]) with ordinality as k (number, at)
            join pg_catalog.pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.number
            left join unnest(p_columns) as c on c.name = a.attname
            where k.at <= i.indnkeyatts
        ) as u
        where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null
            and u.stored and p_type.key_column = any (u.columns)
        order by i.indisprimary desc, cardinality(u.columns), i.indexrelid
        limit 1
    );
end $$;
