-- Which of a type's names is no name, in words; null when all are. The empty string of a row changed by force is none either.
-- for: internal
create or replace function livewell_private.type_name_problem(p_type livewell_private.data_type) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select format(
        '%s must be %s', n.field,
        case when n.name ~ '^pg_(temp|toast)' then 'in a schema that lasts: pg_temp and pg_toast are not'
            when n.qualified then 'SCHEMA.NAME, of letters, digits and _, each at most 63' else 'a name of letters, digits and _, at most 63' end
    )
    from (
        values
        ('table', (p_type).table_name, true), ('key_column', (p_type).key_column, false),
        ('time_column', (p_type).time_column, false), ('ttl_column', (p_type).ttl_column, false),
        ('source_time.column', (p_type).source_time_column, false), ('staleness', (p_type).staleness, true),
        ('gate', nullif(nullif((p_type).gate, 'always'), 'market_hours'), true), ('keys.table', (p_type).keys_table, true),
        ('keys.column', (p_type).keys_key_column, false), ('keys.active', (p_type).keys_active_column, false),
        ('keys.exchange', (p_type).keys_exchange_column, false), ('read.function', (p_type).read_function, true)
    ) as n (field, name, qualified)
    where n.name is not null and not livewell_private.is_identifier(n.name, n.qualified)
    limit 1
$$;
