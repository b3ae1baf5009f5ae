-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.who_locked(p_table text, p_row text)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select coalesce((
        select h.holder from livewell.locked_row as h
        where h.table_name = p_table and h.row_key = p_row order by h.noted_at desc limit 1
    ), 'somebody who has left')
$function$;
