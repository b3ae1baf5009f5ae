-- The statement that moves the time of all rows of some keys of a type, and answers with the keys that have rows. $1 now, $2 keys.
-- for: internal
create or replace function livewell_private.touching_query(p_storing livewell_private.storing) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select format(
        'with touched as (update %1$I.%2$I as t set %3$I = %4$s where t.%5$I = any ($2::%6$s[]) returning t.%5$I)'
        ' select array_agg(distinct t.%5$I::text) from touched as t',
        split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), n.name, n.value, k.name, k.type
    )
    from unnest(p_storing.columns) as k, unnest(p_storing.columns) as n
    where k.name = (p_storing.type).key_column and n.name = (p_storing.type).time_column
$$;
