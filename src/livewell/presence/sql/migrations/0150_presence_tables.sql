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
-- `counted`: whether the user counts for the item's rank.
create table livewell_private.viewer (
    item_id bigint not null,
    user_id text collate "C" not null,
    sessions integer not null,
    counted boolean not null default true,
    constraint viewer_pkey primary key (item_id, user_id),
    constraint viewer_sessions_are_not_negative check (sessions >= 0)
) with (fillfactor = 70);

-- Sessions that were closed while somebody else held them in an open transaction: the sweeper ends them when they are free. Rows are only
-- added by those who close, so that nobody waits for one.
create table livewell_private.session_leaving (
    id bigint generated always as identity,
    session_id uuid not null,
    constraint session_leaving_pkey primary key (id)
);

create index session_leaving_session on livewell_private.session_leaving (session_id);

-- Views, tables and functions of the user's that say who looks at what. What each answered last is held as sessions of a
-- gateway `source:NAME`, one for each user.
create table livewell_private.presence_source (
    name text not null,
    reads text not null,
    every interval not null default '10 seconds',
    enabled boolean not null default true,
    read_at timestamptz,
    last_ok_at timestamptz,
    silent_since timestamptz,
    last_error text,
    rows_read integer not null default 0,
    rows_skipped integer not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint presence_source_pkey primary key (name),
    constraint source_is_a_name check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    constraint source_reads_something_of_a_schema check (
        reads ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
    ),
    constraint source_is_read_within_a_minute check (every between interval '1 second' and interval '1 minute')
) with (fillfactor = 70);

-- Who looked at what by the hour, from samples: figures for people, never written while somebody subscribes.
create table livewell_private.subscription_hour (
    hour timestamptz not null,
    data_type text not null,
    samples integer not null,
    items_sum bigint not null,
    items_max integer not null,
    viewers_sum bigint not null,
    viewers_max integer not null,
    subscriptions_sum bigint not null,
    subscriptions_max integer not null,
    constraint subscription_hour_pkey primary key (hour, data_type),
    constraint subscription_hour_has_samples check (samples > 0)
) with (fillfactor = 70);

-- How often each user has asked for a check in the running minute: one row per user, written over.
create table livewell_private.user_call (
    user_id text not null,
    minute timestamptz not null,
    calls integer not null,
    constraint user_call_pkey primary key (user_id)
) with (fillfactor = 50);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
values
('presence.heartbeat_interval', 'duration', '00:01:00', '00:01:00', '00:00:01', '00:30:00', 'presence.gone_after',
 'How often a gateway renews all its sessions, and an HTTP client its own.'),
('presence.gone_after', 'duration', '00:05:00', '00:05:00', '00:00:05', '1 day', null,
 'How long a session lives without being renewed, and a silent presence source keeps its viewers.'),
('presence.items_per_session', 'integer', '1000', '1000', '1', '100000', null,
 'How many items one session may look at.'),
('presence.sessions_per_user', 'integer', '50', '50', '1', '100000', null,
 'How many sessions one user may have open.'),
('presence.hours_retention', 'duration', '90 days', '90 days', '1 day', '3650 days', null,
 'How long the hourly figures of subscriptions are kept.'),
('presence.checks_per_minute', 'integer', '120', '120', '1', '100000', null,
 'How many checks on subscribing one user may ask for in a minute.'),
('presence.counted_items', 'integer', '20', '20', '1', '100000', null,
 'For how many items at once one user counts as a viewer; what the user looks at beyond is refreshed behind what others look at.'),
('presence.anonymous_viewers', 'integer', '10', '10', '0', '1000000', null,
 'As how many viewers of an item anonymous users count at most, however many they are.');

insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('presence_sweep', 'Undo the sessions that were not renewed', 'livewell_private.task_presence_sweep',
 '1 minute', null, '5 seconds', '30 seconds', '1 minute', '20 minutes', clock_timestamp()),
('presence_sources', 'Read who looks at what from views and functions of the user''s', 'livewell_private.task_presence_sources',
 '1 second', null, '1 second', '10 seconds', '1 minute', '10 minutes', clock_timestamp()),
('presence_recount', 'Count viewers anew, repair and report what had drifted', 'livewell_private.task_presence_recount',
 null, '30 3 * * *', '20 minutes', '40 minutes', '10 minutes', '2 days',
 (date_trunc('day', clock_timestamp() at time zone 'UTC') + interval '1 day 3 hours 30 minutes') at time zone 'UTC'),
('presence_hours', 'Sample who looks at what, by the hour', 'livewell_private.task_presence_hours',
 '10 minutes', null, '1 minute', '5 minutes', '1 minute', '1 hour', clock_timestamp());
