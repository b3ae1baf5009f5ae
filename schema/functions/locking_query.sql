-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.locking_query(p_type livewell.data_type, p_columns livewell.stored_column[])
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    select format(
        'select from %1$I.%2$I as t where t.%3$I = any ($1::%4$s[]) order by t.%3$I, t.ctid for update',
        split_part(p_type.table_name, '.', 1), split_part(p_type.table_name, '.', 2), p_type.key_column, k.type
    )
    from unnest(p_columns) as k where k.name = p_type.key_column
$function$;
