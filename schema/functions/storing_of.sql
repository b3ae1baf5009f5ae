-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.storing_of(p_type livewell.data_type, p_columns text[])
 RETURNS livewell.storing
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_storing livewell.storing;
    v_table constant oid := livewell.find_relation(p_type.table_name);
begin
    v_storing.type := p_type;
    if v_table is null then
        v_storing.problem := format('there is no table %s', p_type.table_name);
        return v_storing;
    end if;
    v_storing.columns := livewell.stored_columns(p_type, v_table, p_columns);
    v_storing.row_key := livewell.stored_key(p_type, v_table, v_storing.columns);
    select format('%s has no column %s', p_type.table_name, min(c.name)) into v_storing.problem
    from unnest(v_storing.columns) as c where c.type is null having count(*) > 0;
    if v_storing.problem is null and v_storing.row_key is null and p_columns <> '{}' then
        v_storing.problem := format(
            'no unique key of %s has %s in it and only columns that are stored', p_type.table_name, p_type.key_column
        );
    end if;
    return v_storing;
end $function$;
