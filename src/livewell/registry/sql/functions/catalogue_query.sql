-- The catalogue of a type as a query of key, active and exchange: Livewell's own table, or the user's. $1 has the type's name.
-- Names are checked here again, whatever was let into the registry.
-- for: internal
create or replace function livewell_private.catalogue_query(p_type livewell_private.data_type) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if p_type.keys_table is null then
        return 'select k.key, k.active, k.exchange from livewell_private.type_key as k where k.data_type = $1 ->> ''type''';
    end if;
    if livewell_private.type_name_problem(p_type) is not null then
        raise exception using errcode = 'LWR03', message = format('type %s: %s', p_type.name, livewell_private.type_name_problem(p_type)),
            hint = format('livewell types check %s', p_type.name);
    end if;
    return format(
        'select t.%I::text as key, %s as active, %s as exchange from %I.%I as t', p_type.keys_key_column,
        case when p_type.keys_active_column is null then 'true' else format('coalesce(t.%I, false)', p_type.keys_active_column) end,
        case when p_type.keys_exchange_column is null then 'null::text' else format('t.%I::text', p_type.keys_exchange_column) end,
        split_part(p_type.keys_table, '.', 1), split_part(p_type.keys_table, '.', 2)
    );
end $$;
