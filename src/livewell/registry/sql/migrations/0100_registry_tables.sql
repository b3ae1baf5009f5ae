-- Data types: what is kept fresh, from where, how old it may be, and which keys of it there are.

-- `fetch_call` and `fields` are how a type is fetched and what its answers hold, as declared; `extra` whether fields nobody declared refuse an
-- answer; `keys_only_known` whether only keys of its catalogue may be looked at; `read_rule` who may read what is stored of it, besides the
-- service: nobody, whoever is signed in, or everybody.
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
    keys_only_known boolean not null default false,
    fetch_call jsonb,
    fields jsonb,
    extra text not null default 'refuse',
    read_rule text not null default 'nobody',
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
    constraint type_catalogue_has_its_columns check ((keys_table is null) = (keys_key_column is null)),
    constraint type_fetch_is_a_table check (jsonb_typeof(fetch_call) = 'object' and jsonb_typeof(fields) = 'object'),
    constraint type_extra_is_known check (extra in ('refuse', 'ignore')),
    constraint type_read_rule_is_known check (read_rule in ('nobody', 'signed_in', 'public'))
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

-- How a key is judged.
create type livewell_private.judged_key as (key text, newest timestamptz, ttl interval, stale boolean, error text);

-- When exchanges are open, and which exchange a key belongs to: what the gate market_hours goes by.

-- An exchange is known for the time its sessions were written for; outside of it nobody can say that it is closed.
create table livewell_private.exchange (
    code text not null,
    known_from timestamptz,
    known_until timestamptz,
    refreshed_at timestamptz,
    constraint exchange_pkey primary key (code),
    constraint exchange_is_a_code check (code ~ '^[A-Z0-9]{1,20}$'),
    constraint exchange_is_known_for_a_while check ((known_from is null) = (known_until is null) and known_until > known_from)
);

-- A day with a break has two sessions.
create table livewell_private.market_session (
    exchange text not null,
    opens_at timestamptz not null,
    closes_at timestamptz not null,
    constraint market_session_pkey primary key (exchange, opens_at),
    constraint market_session_has_an_exchange foreign key (exchange) references livewell_private.exchange (code),
    constraint market_session_opens_before_it_closes check (closes_at > opens_at)
);

-- The exchange of a key by what follows its last point; the empty suffix is for all others.
create table livewell_private.exchange_rule (
    suffix text not null,
    exchange text not null,
    constraint exchange_rule_pkey primary key (suffix),
    constraint exchange_rule_suffix_is_one check (suffix ~ '^(\.[A-Z0-9]{1,10})?$'),
    constraint exchange_rule_names_an_exchange check (exchange ~ '^[A-Z0-9]{1,20}$')
);

insert into livewell_private.exchange_rule (suffix, exchange)
values ('', 'XNYS'), ('.L', 'XLON'), ('.DE', 'XETR'), ('.PA', 'XPAR'), ('.T', 'XTKS'), ('.HK', 'XHKG'), ('.TO', 'XTSE'), ('.AX', 'XASX');

-- When what a gate answers was changed: sessions that moved, another rule. Rooms above check anew what that concerns.
create table livewell_private.gate_change (
    gate text not null,
    changed_at timestamptz not null,
    constraint gate_change_pkey primary key (gate)
) with (fillfactor = 50);

-- The sessions of exchanges are kept a year ahead by programs, which have the calendars; where only pg_cron runs tasks, the
-- function warns when they run out.
insert into livewell_private.task (name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('market_calendar', 'Keep the sessions of exchanges in use a year ahead', 'livewell_private.task_market_calendar', '1 day', '20 minutes',
 '40 minutes', '10 minutes', '2 days', clock_timestamp());
