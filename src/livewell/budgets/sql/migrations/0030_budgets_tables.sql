-- Providers, their endpoints and keys, what is used of their limits, and the ledger of bytes.

-- How refreshes at a provider are chosen is its policy; null: by value where bytes are paid for, by viewers where they are not.
-- `hosts` is where calls may go, `key_in` how an API key travels.
create table livewell_private.provider (
    name text not null,
    state text not null default 'active',
    description text not null default '',
    base_url text,
    quota_bytes bigint,
    quota_window interval not null default interval '30 days',
    quota_use double precision not null default 0.95,
    pace text not null default 'even',
    pace_bucket interval not null default interval '1 hour',
    policy text,
    hosts text[] not null default '{}',
    key_in text,
    allow_private boolean not null default false,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint provider_pkey primary key (name),
    constraint provider_is_a_name check (name ~ '^[^\s/@]{1,100}$'),
    constraint provider_state_is_known check (state in ('active', 'disabled', 'maintenance')),
    constraint provider_quota_is_positive check (quota_bytes > 0),
    constraint provider_window_is_whole_hours check (
        quota_window >= interval '1 hour' and quota_window <= interval '400 days'
        and mod(extract(epoch from quota_window), 3600) = 0
    ),
    constraint provider_use_is_a_share check (quota_use > 0 and quota_use <= 1),
    constraint provider_pace_is_known check (pace in ('even', 'none')),
    constraint provider_bucket_is_within_the_window check (pace_bucket > interval '0' and pace_bucket <= quota_window),
    constraint provider_policy_is_known check (policy in ('viewers', 'value')),
    constraint provider_key_travels_somewhere check (
        key_in = 'bearer' or key_in ~ '^(query|header):[A-Za-z0-9._-]{1,100}$'
    )
);

-- An endpoint named as its provider stands for the account: what it allows, all endpoints of the provider share.
create table livewell_private.endpoint (
    name text not null,
    provider text not null,
    state text not null default 'active',
    description text not null default '',
    requests_per_minute integer default 60,
    requests_per_hour integer,
    tokens_per_minute integer,
    tokens_per_hour integer,
    concurrent integer default 10,
    limiter text not null default 'strict',
    send_within interval not null default interval '2 seconds',
    backpressure_share double precision not null default 0.8,
    backpressure_delay interval not null default interval '5 seconds',
    depth_limit integer default 1000,
    serial_keys boolean not null default true,
    expected_bytes bigint not null default 50000,
    max_bytes bigint not null default 10485760,
    max_tokens integer,
    retry_after interval not null default interval '1 minute',
    retry_after_max interval not null default interval '1 hour',
    breaker_failures integer default 10,
    breaker_window interval not null default interval '10 minutes',
    breaker_cooldown interval not null default interval '1 minute',
    breaker_cooldown_max interval not null default interval '30 minutes',
    breaker_trials integer not null default 3,
    call_timeout interval not null default interval '10 seconds',
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint endpoint_pkey primary key (name),
    constraint endpoint_has_a_provider foreign key (provider) references livewell_private.provider (name),
    constraint endpoint_is_a_name check (name ~ '^[^\s/@]{1,100}(/[^\s@]{1,100})?$'),
    constraint endpoint_begins_with_its_provider check (split_part(name, '/', 1) = provider),
    constraint endpoint_state_is_known check (state in ('active', 'disabled', 'maintenance')),
    constraint endpoint_limits_are_positive check (
        requests_per_minute > 0 and requests_per_hour > 0 and tokens_per_minute > 0 and tokens_per_hour > 0 and concurrent > 0
    ),
    constraint endpoint_limiter_is_known check (limiter in ('strict', 'smooth')),
    constraint endpoint_send_within_is_short check (send_within > interval '0' and send_within <= interval '10 seconds'),
    constraint endpoint_backpressure_is_a_share check (backpressure_share > 0 and backpressure_delay >= interval '0'),
    constraint endpoint_depth_is_positive check (depth_limit > 0),
    constraint endpoint_sizes_are_positive check (expected_bytes > 0 and max_bytes >= expected_bytes and max_tokens > 0),
    constraint endpoint_retry_after_is_positive check (retry_after > interval '0' and retry_after_max >= retry_after),
    constraint endpoint_breaker_is_sound check (
        breaker_failures > 0 and breaker_window > interval '0' and breaker_cooldown > interval '0'
        and breaker_cooldown_max >= breaker_cooldown and breaker_trials > 0
    ),
    constraint endpoint_call_timeout_is_short check (call_timeout > interval '0' and call_timeout <= interval '10 minutes')
);
create index endpoint_provider on livewell_private.endpoint (provider);

-- Where a key is found, never the key. Keys of one scope share one account at the provider, and so one set of limits.
create table livewell_private.api_key (
    provider text not null,
    name text not null,
    scope text not null,
    source text not null,
    enabled boolean not null default true,
    requests_per_minute integer,
    requests_per_hour integer,
    tokens_per_minute integer,
    tokens_per_hour integer,
    concurrent integer,
    granted bigint not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint api_key_pkey primary key (provider, name),
    constraint api_key_has_a_provider foreign key (provider) references livewell_private.provider (name),
    constraint api_key_is_a_name check (name ~ '^[^\s/@]{1,100}$' and scope ~ '^[^\s/@]{1,100}$'),
    constraint api_key_is_found_somewhere_safe check (source ~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$'),
    constraint api_key_limits_are_positive check (
        requests_per_minute > 0 and requests_per_hour > 0 and tokens_per_minute > 0 and tokens_per_hour > 0 and concurrent > 0
    )
);

-- What is used of the limits of an endpoint ('fmp/quote'), an account ('fmp') or a scope of keys ('fmp@main'): the row whose
-- lock decides. Rings hold the newest slot last: 72 seconds, and 62 minutes.
create table livewell_private.limit_use (
    name text not null,
    minute_slot bigint not null default 0,
    minute_requests integer[] not null default array_fill(0, array[72]),
    minute_tokens integer[] not null default array_fill(0, array[72]),
    hour_slot bigint not null default 0,
    hour_requests integer[] not null default array_fill(0, array[62]),
    hour_tokens integer[] not null default array_fill(0, array[62]),
    smooth_at timestamptz not null default '-infinity',
    next_allowed_at timestamptz not null default '-infinity',
    closed_until timestamptz not null default '-infinity',
    closed_reason text,
    throttles integer not null default 0,
    learned_per_minute integer,
    learned_per_hour integer,
    learned_tokens_per_minute integer,
    learned_tokens_per_hour integer,
    remaining integer,
    remaining_since bigint,
    remaining_until timestamptz,
    observed_at timestamptz not null default '-infinity',
    grown_at timestamptz not null default '-infinity',
    breaker text not null default 'closed',
    breaker_until timestamptz,
    breaker_openings integer not null default 0,
    breaker_passed integer not null default 0,
    failure_slot bigint not null default 0,
    failures integer[] not null default array_fill(0, array[21]),
    constraint limit_use_pkey primary key (name),
    constraint limit_use_breaker_is_known check (breaker in ('closed', 'open', 'half_open'))
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- What of a provider's quota is counted: the hours before this one as a sum, the even allowance as a bucket, and how much of
-- what calls returned of their reservations the bucket has.
create table livewell_private.quota_use (
    provider text not null,
    counted_hour timestamptz not null default '-infinity',
    counted_bytes bigint not null default 0,
    bucket_bytes double precision not null default 0,
    bucket_at timestamptz not null default '-infinity',
    returned_seen bigint not null default 0,
    level integer not null default 0,
    constraint quota_use_pkey primary key (provider),
    constraint quota_use_has_a_provider foreign key (provider) references livewell_private.provider (name) on delete cascade
) with (fillfactor = 50);

-- What calls used by the hour, and what they returned of their reservations: who finishes writes here, and waits for no claim.
create table livewell_private.quota_hour (
    provider text not null,
    hour timestamptz not null,
    bytes bigint not null default 0,
    requests bigint not null default 0,
    tokens bigint not null default 0,
    returned bigint not null default 0,
    constraint quota_hour_pkey primary key (provider, hour),
    constraint quota_hour_is_not_negative check (bytes >= 0 and requests >= 0 and tokens >= 0)
) with (fillfactor = 70);

-- How large answers are, by what was asked: a moving average and its spread, from samples.
create table livewell_private.estimate (
    endpoint text not null,
    subject text not null,
    samples bigint not null default 0,
    bytes_mean double precision,
    bytes_spread double precision not null default 0,
    tokens_mean double precision,
    tokens_spread double precision not null default 0,
    over_twice bigint not null default 0,
    over_twice_at timestamptz,
    updated_at timestamptz not null,
    constraint estimate_pkey primary key (endpoint, subject),
    constraint estimate_has_an_endpoint foreign key (endpoint) references livewell_private.endpoint (name) on delete cascade
) with (fillfactor = 70);

-- Permits taken by hand, a block of them per row; open are the numbers not yet settled.
create table livewell_private.permit_block (
    id uuid not null,
    endpoint text not null,
    api_key text,
    holder text not null,
    tokens integer not null,
    bytes bigint not null,
    open integer[] not null,
    granted_at timestamptz not null,
    lease_until timestamptz not null,
    constraint permit_block_pkey primary key (id),
    constraint permit_block_has_an_endpoint foreign key (endpoint) references livewell_private.endpoint (name) on delete cascade
) with (fillfactor = 70);
create index permit_block_endpoint on livewell_private.permit_block (endpoint);
create index permit_block_lease on livewell_private.permit_block (lease_until);

-- What a claim and a permit know of budgets, by name: one row per limit and one per quota, and what is drawn from them.

-- Calls at an endpoint by a key that are under way or wait, and bytes reserved that no ledger has yet. The key's limit is that of
-- its scope, by the name it has in limit_use.
create type livewell_private.endpoint_calls as (
    provider text, endpoint text, api_key text, key_limit text, calls bigint, bytes bigint
);

-- What may start now under a limit, of an endpoint, an account or a scope of keys; null is any amount. The spacing is that of a
-- smooth limit. Where nothing may start: when it opens again, and why. The share is the largest of those used of its windows.
create type livewell_private.limit_headroom as (
    name text, kind text, provider text, requests bigint, tokens bigint, spacing double precision, starts_trial boolean,
    opens_at timestamptz, reason text, used_share double precision
);

-- How many bytes may start now at a provider with a quota, and what that was worked out from.
create type livewell_private.quota_headroom as (
    provider text, bytes bigint, is_low boolean, allowed bigint, used bigint, in_flight bigint, counted bigint,
    bucket double precision, returned bigint, level integer
);

create type livewell_private.headroom as (limits livewell_private.limit_headroom[], has_keys boolean, quotas livewell_private.quota_headroom[]);

-- What some calls at one endpoint by one key cost together.
create type livewell_private.spending as (
    endpoint text, provider text, api_key text, key_limit text, requests bigint, tokens bigint, bytes bigint
);

-- One call at an endpoint as it is settled: what it had reserved, what it used (null: nobody knows), how it ended,
-- and what its answer said of the rate.
create type livewell_private.spent_call as (
    endpoint text, api_key text, subject text, started_at timestamptz, reserved_bytes bigint, reserved_tokens integer,
    bytes bigint, tokens integer, outcome text, rate jsonb, is_passenger boolean
);

-- Who else makes calls under these budgets, and its functions that count those under way and those that wait, so that budgets need
-- not know whose calls they are: (p_providers text[]) returns livewell_private.endpoint_calls[], for the service.
create table livewell_private.caller (
    name text not null,
    in_flight text not null,
    waiting text not null,
    constraint caller_pkey primary key (name)
);
insert into livewell_private.caller (name, in_flight, waiting) values ('jobs', 'jobs_in_flight', 'jobs_waiting');

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('quota.sample_share', 'number', '0.01', '0.01', '0', '1',
 'Share of finished calls from which size estimates learn; the first of its kind is always taken.'),
('quota.ledger_retention', 'duration', '730 days', '730 days', '31 days', '3650 days',
 'How long the hourly ledger of bytes, requests and tokens is kept.'),
('budgets.permit_lease', 'duration', '00:01:00', '00:01:00', '00:00:01', '1 day',
 'How long a permit taken by hand counts as in use when its holder falls silent.');
