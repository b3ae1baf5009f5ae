-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.busy_keys_query(p_storing livewell.storing)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select format(
        'select coalesce(array_agg(distinct t.%3$I::text), array[]::text[]) from %1$I.%2$I as t'
        ' where t.%3$I = any ($1::%4$s[]) and t.ctid <> all ($2)',
        split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), k.name, k.type
    )
    from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column
$function$;
