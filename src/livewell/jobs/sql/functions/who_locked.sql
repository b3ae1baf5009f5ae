-- Who was last seen to hold a row.
-- for: internal
create or replace function livewell_private.who_locked(p_table text, p_row text) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select coalesce((
        select h.holder from livewell_private.locked_row as h
        where h.table_name = p_table and h.row_key = p_row order by h.noted_at desc limit 1
    ), 'somebody who has left')
$$;
