-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.touching_query(p_type livewell.data_type, p_columns livewell.stored_column[])
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    select format(
        'with touched as (update %1$I.%2$I as t set %3$I = %4$s where t.%5$I = any ($2::%6$s[]) returning t.%5$I)'
        ' select array_agg(distinct t.%5$I::text) from touched as t',
        split_part(p_type.table_name, '.', 1), split_part(p_type.table_name, '.', 2), p_type.time_column, n.value,
        p_type.key_column, k.type
    )
    from unnest(p_columns) as k, unnest(p_columns) as n
    where k.name = p_type.key_column and n.name = p_type.time_column
$function$;
