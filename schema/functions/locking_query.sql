-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.locking_query(p_storing livewell.storing, p_free_only boolean DEFAULT false)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select format(
        'select coalesce(array_agg(t.ctid), array[]::tid[]) from'
        ' (select t.ctid from %1$I.%2$I as t where t.%3$I = any ($1::%4$s[]) order by t.%3$I, t.ctid for update%5$s) as t',
        split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), k.name, k.type,
        case when p_free_only then ' skip locked' end
    )
    from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column
$function$;
