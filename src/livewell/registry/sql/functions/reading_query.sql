-- The statement that reads the rows of some keys from the table of a type: $1 the keys, $2 how many rows of each at most. A key has
-- one row where the key column alone is unique, else a list. The table is looked up each time, and every name is quoted.
-- for: internal
create or replace function livewell_private.reading_query(p_type livewell_private.data_type) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select format(
        'select array_agg(k.key), array_agg(case when %1$L then r.rows -> 0 else r.rows end), array_agg(r.newest%6$s)'
        ' from unnest($1::text[]) as k (key) cross join lateral ('
        'select jsonb_agg(n.row order by n.at desc nulls last, n.row) as rows, max(n.at) as newest from ('
        'select to_jsonb(t) as row, t.%5$I as at from %2$I.%3$I as t where t.%4$I = k.key::%7$s order by t.%5$I desc nulls last limit $2'
        ') as n) as r where r.rows is not null',
        livewell_private.has_one_row(p_type),
        split_part((p_type).table_name, '.', 1), split_part((p_type).table_name, '.', 2), (p_type).key_column, (p_type).time_column,
        case when t.atttypid = 'timestamp'::pg_catalog.regtype then ' at time zone ''UTC''' else '' end,
        pg_catalog.format_type(k.atttypid, -1)
    )
    from pg_catalog.pg_attribute as k
    join pg_catalog.pg_attribute as t on t.attrelid = k.attrelid and t.attname = (p_type).time_column and not t.attisdropped
    where k.attrelid = livewell_private.find_relation((p_type).table_name) and k.attname = (p_type).key_column and not k.attisdropped
$$;
