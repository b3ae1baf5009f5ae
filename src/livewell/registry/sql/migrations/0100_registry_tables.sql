-- Data types: what is kept fresh, from where, how old it may be, and which keys of it there are.

create table livewell_private.data_type (
    name text not null,
    description text not null default '',
    endpoint text not null,
    queue_group text not null default 'refresh',
    table_name text,
    key_column text,
    time_column text,
    ttl_column text,
    ttl interval not null,
    staleness text not null default 'livewell.is_stale',
    gate text not null default 'always',
    strategy text not null default 'on_demand',
    cron text,
    time_zone text not null default 'UTC',
    priority_floor integer not null default 0,
    expected_bytes bigint,
    source_time_column text,
    source_rule text,
    model text,
    keys_per_request integer not null default 1,
    value_rule text not null default 'observed',
    key_pattern text not null default '^[A-Za-z0-9^][A-Za-z0-9._:^=-]{0,99}$',
    keys_table text,
    keys_key_column text,
    keys_active_column text,
    keys_exchange_column text,
    enabled boolean not null default true,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint data_type_pkey primary key (name),
    constraint type_has_an_endpoint foreign key (endpoint) references livewell_private.endpoint (name),
    constraint type_is_a_name check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    constraint type_group_is_a_name check (queue_group ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint type_ttl_is_positive check (ttl > interval '0' and ttl <= interval '10 years'),
    constraint type_tables_are_names check (
        table_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
        and keys_table ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
    ),
    constraint type_columns_are_names check (
        key_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' and time_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
        and ttl_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' and source_time_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
        and keys_key_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' and keys_active_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
        and keys_exchange_column ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
    ),
    constraint type_table_has_its_columns check (
        (table_name is null) = (key_column is null) and (table_name is null) = (time_column is null)
        and (table_name is not null or (ttl_column is null and source_time_column is null))
    ),
    constraint type_staleness_is_a_function_of_a_schema check (
        staleness ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
    ),
    constraint type_gate_is_known_or_a_function_of_a_schema check (
        gate in ('always', 'market_hours') or gate ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
    ),
    constraint type_strategy_is_known check (strategy in ('on_demand', 'scheduled', 'both')),
    constraint type_scheduled_has_a_cron check ((strategy = 'on_demand') = (cron is null)),
    constraint type_floor_is_below_subscribers check (priority_floor between 0 and 999),
    constraint type_bytes_are_positive check (expected_bytes > 0),
    constraint type_source_rule_is_known check (source_rule in ('newer', 'not_older')),
    constraint type_batch_is_positive check (keys_per_request between 1 and 1000),
    constraint type_value_rule_is_known check (value_rule in ('contract', 'observed')),
    constraint type_catalogue_has_its_columns check ((keys_table is null) = (keys_key_column is null))
);

create index data_type_endpoint on livewell_private.data_type (endpoint);

-- Where data goes whose type names no table.
create table livewell_private.record (
    data_type text not null,
    key text not null,
    value jsonb not null,
    fetched_at timestamptz,
    source_time timestamptz,
    ttl interval,
    first_seen_at timestamptz not null default clock_timestamp(),
    constraint record_pkey primary key (data_type, key),
    constraint record_has_a_type foreign key (data_type) references livewell_private.data_type (name),
    constraint record_ttl_is_positive check (ttl > interval '0')
);

-- The keys of a type that scheduled refreshes walk, when the type names no table of its own for them.
create table livewell_private.type_key (
    data_type text not null,
    key text not null,
    active boolean not null default true,
    exchange text,
    created_at timestamptz not null default clock_timestamp(),
    constraint type_key_pkey primary key (data_type, key),
    constraint type_key_has_a_type foreign key (data_type) references livewell_private.data_type (name),
    constraint type_key_exchange_is_a_code check (exchange ~ '^[A-Z0-9]{1,20}$')
);
