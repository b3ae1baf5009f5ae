-- Who looks at what: gateways, their sessions and the HTTP ones, subscriptions, and each user counted once per item.

create table livewell_private.gateway (
    name text not null,
    last_seen timestamptz not null,
    constraint gateway_pkey primary key (name),
    constraint gateway_is_a_name check (name ~ '^[^\s]{1,200}$')
) with (fillfactor = 50);

create table livewell_private.session (
    id uuid not null,
    user_id text collate "C" not null,
    gateway text,
    last_seen timestamptz not null,
    created_at timestamptz not null default clock_timestamp(),
    constraint session_pkey primary key (id),
    constraint session_has_a_gateway foreign key (gateway) references livewell_private.gateway (name),
    constraint session_has_a_user check (length(user_id) between 1 and 200)
) with (fillfactor = 70);

create index session_last_seen on livewell_private.session (last_seen) where gateway is null;
create index session_gateway on livewell_private.session (gateway) where gateway is not null;
create index session_of_user on livewell_private.session (user_id);

create table livewell_private.subscription (
    session_id uuid not null,
    item_id bigint not null,
    constraint subscription_pkey primary key (session_id, item_id)
);

-- How many of a user's sessions look at an item: the item has one viewer more when the first comes, one fewer when the last goes.
create table livewell_private.viewer (
    item_id bigint not null,
    user_id text collate "C" not null,
    sessions integer not null,
    constraint viewer_pkey primary key (item_id, user_id),
    constraint viewer_sessions_are_not_negative check (sessions >= 0)
) with (fillfactor = 70);
