-- The statement that finds which of some keys of a type have rows beside some that are locked. $1 keys, $2 where those rows are.
-- for: internal
create or replace function livewell_private.busy_keys_query(p_storing livewell_private.storing) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select format(
        'select coalesce(array_agg(distinct t.%3$I::text), array[]::text[]) from %1$I.%2$I as t'
        ' where t.%3$I = any ($1::%4$s[]) and t.ctid <> all ($2)',
        split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), k.name, k.type
    )
    from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column
$$;
