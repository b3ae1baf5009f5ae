-- What viewers saw, by hour and type: minutes of viewers in all, within their TTL, expected to be as at the source, and not
-- harmfully stale; how long they had watched stale data and how far it was over its TTL, as histograms of viewer-minutes over
-- the steps of `wait_steps()`; and what fetches and random probes found.
create table livewell_private.freshness_hour (
    hour timestamptz not null,
    data_type text not null,
    audience text not null,
    viewer_minutes double precision not null default 0,
    within_ttl double precision not null default 0,
    fresh double precision not null default 0,
    ok double precision not null default 0,
    waits double precision[] not null default '{}',
    overdue double precision[] not null default '{}',
    fetches bigint not null default 0,
    changes bigint not null default 0,
    probes bigint not null default 0,
    probes_fresh bigint not null default 0,
    probes_ok bigint not null default 0,
    constraint freshness_hour_pkey primary key (hour, data_type, audience),
    constraint figures_have_a_type foreign key (data_type) references livewell_private.data_type (name) on delete cascade,
    constraint figures_audience_is_known check (audience in ('all', 'lone')),
    constraint figures_are_of_a_whole_hour check (hour = date_trunc('hour', hour, 'UTC')),
    constraint figures_are_parts_of_a_whole check (
        changes <= fetches and probes_fresh <= probes and probes_ok <= probes
    )
) with (fillfactor = 70);
create index freshness_hour_data_type on livewell_private.freshness_hour (data_type);

-- When viewers were last counted, and how much of what was learned of a type is in the figures already.
create table livewell_private.figures_taken (
    data_type text not null,
    fetches double precision not null,
    changes double precision not null,
    constraint figures_taken_pkey primary key (data_type),
    constraint figures_taken_has_a_type foreign key (data_type) references livewell_private.data_type (name) on delete cascade
) with (fillfactor = 50);

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.figures_sample', 'integer', '50000', '50000', '100', '10000000',
 'How many watched items the figures are taken of at most; of more, a random part.'),
('freshness.figures_retention', 'duration', '90 days', '90 days', '1 day', '3650 days',
 'How long the figures of freshness are kept.')
on conflict (name) do nothing;

insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('freshness_figures', 'Take the figures of what viewers see', 'livewell_private.task_freshness_figures',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp()),
('freshness_retention', 'Drop figures of freshness that are too old', 'livewell_private.task_freshness_retention',
 '1 hour', null, '1 minute', '1 hour', '5 minutes', '3 hours', clock_timestamp())
on conflict (name) do nothing;
