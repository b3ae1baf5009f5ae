-- Presence that comes from elsewhere, what is counted by the hour, the room's settings, and its tasks.

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

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('presence.heartbeat_interval', 'duration', '00:01:00', '00:01:00', '00:00:01', '00:30:00',
 'How often a gateway renews all its sessions, and an HTTP client its own.'),
('presence.gone_after', 'duration', '00:05:00', '00:05:00', '00:00:05', '1 day',
 'How long a session lives without being renewed, and a silent presence source keeps its viewers.'),
('presence.items_per_session', 'integer', '1000', '1000', '1', '100000',
 'How many items one session may look at.'),
('presence.sessions_per_user', 'integer', '50', '50', '1', '100000',
 'How many sessions one user may have open.'),
('presence.hours_retention', 'duration', '90 days', '90 days', '1 day', '3650 days',
 'How long the hourly figures of subscriptions are kept.')
on conflict (name) do nothing;

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
 '10 minutes', null, '1 minute', '5 minutes', '1 minute', '1 hour', clock_timestamp())
on conflict (name) do nothing;
