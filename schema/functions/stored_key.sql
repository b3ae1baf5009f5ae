-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.stored_key(p_type livewell.data_type, p_table oid, p_columns livewell.stored_column[])
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select u.columns
        from pg_catalog.pg_index as i
        cross join lateral (
            select array_agg(a.attname::text order by k.at) as columns, bool_and(c.value is not null) as stored
            from unnest(i.indkey::smallint[]) with ordinality as k (number, at)
            join pg_catalog.pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.number
            left join unnest(p_columns) as c on c.name = a.attname
            where k.at <= i.indnkeyatts
        ) as u
        where i.indrelid = p_table and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null
            and u.stored and p_type.key_column = any (u.columns)
        order by i.indisprimary desc, cardinality(u.columns), i.indexrelid
        limit 1
    );
end $function$;
