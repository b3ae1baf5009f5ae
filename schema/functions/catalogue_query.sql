-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.catalogue_query(p_type livewell.data_type)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_type.keys_table is null then
        return 'select k.key, k.active, k.exchange from livewell.type_key as k where k.data_type = $1 ->> ''type''';
    end if;
    if livewell.type_name_problem(p_type) is not null then
        raise exception using errcode = 'LWR03', message = format('type %s: %s', p_type.name, livewell.type_name_problem(p_type)),
            hint = format('livewell types check %s', p_type.name);
    end if;
    return format(
        'select t.%I::text as key, %s as active, %s as exchange from %I.%I as t', p_type.keys_key_column,
        case when p_type.keys_active_column is null then 'true' else format('coalesce(t.%I, false)', p_type.keys_active_column) end,
        case when p_type.keys_exchange_column is null then 'null::text' else format('t.%I::text', p_type.keys_exchange_column) end,
        split_part(p_type.keys_table, '.', 1), split_part(p_type.keys_table, '.', 2)
    );
end $function$;
