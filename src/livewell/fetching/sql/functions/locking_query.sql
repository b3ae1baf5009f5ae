-- The statement that locks the rows of some keys of a type, in the one order everybody takes them in, and answers with where they are;
-- or only those that nobody else has. $1 keys.
-- for: internal
create or replace function livewell_private.locking_query(p_storing livewell_private.storing, p_free_only boolean default false) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select format(
        'select coalesce(array_agg(t.ctid), array[]::tid[]) from'
        ' (select t.ctid from %1$I.%2$I as t where t.%3$I = any ($1::%4$s[]) order by t.%3$I, t.ctid for update%5$s) as t',
        split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), k.name, k.type,
        case when p_free_only then ' skip locked' end
    )
    from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column
$$;
