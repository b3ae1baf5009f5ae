-- Items: what is watched and what was learned of it. A tick costs what is due, because only watched items are in the index.

create table livewell.item (
    id bigint generated always as identity,
    data_type text not null,
    key text not null,
    viewers integer not null default 0,
    due_at timestamptz not null,
    watched_since timestamptz,
    viewers_average double precision not null default 0,
    averaged_at timestamptz,
    fetched_at timestamptz,
    last_outcome text,
    last_outcome_at timestamptz,
    failed_check_at timestamptz,
    content_hash bytea,
    etag text,
    last_modified text,
    fetches integer not null default 0,
    changes integer not null default 0,
    minutes_between double precision not null default 0,
    bytes_mean double precision,
    score double precision,
    decision text,
    created_at timestamptz not null default clock_timestamp(),
    constraint item_pkey primary key (id),
    constraint item_is_one_per_type_and_key unique (data_type, key),
    constraint item_has_a_type foreign key (data_type) references livewell.data_type (name),
    constraint item_viewers_are_not_negative check (viewers >= 0),
    constraint item_counts_are_not_negative check (fetches >= 0 and changes between 0 and fetches and minutes_between >= 0)
) with (fillfactor = 70);

create index item_due on livewell.item (due_at) where viewers > 0;

-- What was learned of all items of a type together: the prior of each.
create table livewell.type_learning (
    data_type text not null,
    fetches double precision not null default 0,
    changes double precision not null default 0,
    minutes_between double precision not null default 0,
    bytes_mean double precision,
    constraint type_learning_pkey primary key (data_type),
    constraint type_learning_has_a_type foreign key (data_type) references livewell.data_type (name)
);

-- How each provider's refreshes are chosen, and the state of the controller that holds the price of a byte.
create table livewell.refresh_policy (
    provider text not null,
    policy text not null default 'value',
    integral double precision not null default ln(20.0 / 1000000),
    price double precision not null default 0,
    bucket_share double precision,
    updated_at timestamptz,
    constraint refresh_policy_pkey primary key (provider),
    constraint policy_has_a_provider foreign key (provider) references livewell.provider (name),
    constraint policy_is_known check (policy in ('viewers', 'value'))
);
