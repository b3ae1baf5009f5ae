-- Items: what is watched and what was learned of it. A tick costs what is due, because only watched items are in the index.

create table livewell_private.item (
    id bigint generated always as identity,
    data_type text not null,
    key text not null,
    viewers integer not null default 0,
    -- Not the number itself: a second viewer must not touch the index.
    watched boolean not null generated always as (viewers > 0) stored,
    due_at timestamptz not null,
    watched_since timestamptz,
    viewers_average double precision not null default 0,
    averaged_at timestamptz,
    fetched_at timestamptz,
    expires_at timestamptz,
    decision text,
    decided_at timestamptz,
    score double precision,
    last_outcome text,
    last_outcome_at timestamptz,
    failed_check_at timestamptz,
    content_hash bytea,
    fetches integer not null default 0,
    changes integer not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 0.3,
    bytes_mean double precision,
    created_at timestamptz not null default clock_timestamp(),
    constraint item_pkey primary key (id),
    constraint item_is_one_per_type_and_key unique (data_type, key),
    constraint item_has_a_type foreign key (data_type) references livewell_private.data_type (name),
    constraint item_viewers_are_not_negative check (viewers >= 0),
    constraint item_counts_are_not_negative check (fetches >= 0 and changes between 0 and fetches and minutes_between >= 0),
    constraint item_rate_is_positive check (change_rate > 0 and rate_weight > 0)
) with (fillfactor = 70);

create index item_due on livewell_private.item (due_at) where watched;

-- What was learned of all items of a type together: where each begins. Finishes append, the checker folds.
create table livewell_private.type_learning (
    data_type text not null,
    fetches double precision not null default 0,
    changes double precision not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 5,
    bytes_mean double precision,
    unchanged_bytes double precision,
    constraint type_learning_pkey primary key (data_type),
    constraint type_learning_has_a_type foreign key (data_type) references livewell_private.data_type (name)
) with (fillfactor = 50);

create table livewell_private.learned (
    data_type text not null,
    fetches integer not null,
    changes integer not null,
    minutes_between double precision not null,
    slope double precision not null,
    information double precision not null,
    bytes double precision,
    sizes integer not null,
    unchanged_bytes double precision,
    unchanged_sizes integer not null
);

-- The state of the controller that holds the price of a byte, by provider.
create table livewell_private.byte_price (
    provider text not null,
    integral double precision not null default ln(0.0002),
    price double precision not null default 0,
    bucket_share double precision,
    priced_at timestamptz,
    constraint byte_price_pkey primary key (provider),
    constraint byte_price_has_a_provider foreign key (provider) references livewell_private.provider (name)
) with (fillfactor = 50);

-- How far a walk over many rows has come, so that each run takes a slice and the next goes on.
create table livewell_private.freshness_walk (
    name text not null,
    reached text,
    begun_at timestamptz not null,
    due_at timestamptz not null,
    constraint freshness_walk_pkey primary key (name)
);

create type livewell_private.judged_key as (key text, newest timestamptz, ttl interval, stale boolean, error text);

create type livewell_private.look as (
    item_id bigint, data_type text, key text, viewers integer, newest timestamptz, ttl interval, stale boolean, error text,
    opens_at timestamptz, score double precision, bytes double precision
);

create type livewell_private.decided_item as (
    item_id bigint, data_type text, key text, newest timestamptz, ttl interval, error text, score double precision,
    endpoint text, decision text, due_at timestamptz, priority integer
);
