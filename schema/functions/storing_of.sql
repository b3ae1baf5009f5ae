-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.storing_of(p_type livewell.data_type, p_columns text[])
 RETURNS livewell.storing
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_storing livewell.storing;
    v_table constant oid := livewell.find_relation(p_type.table_name);
    v_columns livewell.stored_column[];
    v_unique text[];
begin
    if v_table is null then
        v_storing.problem := format('there is no table %s', p_type.table_name);
        return v_storing;
    end if;
    v_columns := livewell.stored_columns(p_type, v_table, p_columns);
    select format('%s has no column %s', p_type.table_name, min(c.name)) into v_storing.problem
    from unnest(v_columns) as c where c.type is null having count(*) > 0;
    if v_storing.problem is not null then
        return v_storing;
    end if;
    v_storing.lock_keys := livewell.locking_query(p_type, v_columns);
    v_storing.touch_keys := livewell.touching_query(p_type, v_columns);
    v_storing.many := false;
    if p_columns <> '{}' then
        v_unique := livewell.stored_key(p_type, v_table, v_columns);
        v_storing.many := cardinality(v_unique) > 1;
        v_storing.store_rows := livewell.storing_query(p_type, v_columns, v_unique);
        v_storing.problem := case when v_unique is null then format(
            'no unique key of %s has %s in it and only columns that are stored', p_type.table_name, p_type.key_column
        ) end;
    end if;
    return v_storing;
end $function$;
