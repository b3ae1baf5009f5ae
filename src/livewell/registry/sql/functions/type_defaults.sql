-- The fields of a data type that a person may set, each with what it is when nobody has set it. There is no default TTL.
-- for: internal
create or replace function livewell_private.type_defaults() returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select jsonb_build_object(
        'description', '', 'endpoint', null, 'queue_group', 'refresh', 'table_name', null, 'key_column', null,
        'time_column', null, 'ttl_column', null, 'ttl', null, 'staleness', 'livewell.is_stale', 'gate', 'always',
        'strategy', 'on_demand', 'cron', null, 'time_zone', 'UTC', 'priority_floor', 0, 'expected_bytes', null,
        'source_time_column', null, 'source_rule', null, 'model', null, 'keys_per_request', 1, 'value_rule', 'observed',
        'key_pattern', '^[A-Za-z0-9^][A-Za-z0-9._:^=-]{0,99}$', 'keys_table', null, 'keys_key_column', null,
        'keys_active_column', null, 'keys_exchange_column', null, 'enabled', true, 'fetch_call', null, 'fields', null, 'extra', 'refuse',
        'read_rule', 'nobody', 'keys_only_known', false
    )
$$;
