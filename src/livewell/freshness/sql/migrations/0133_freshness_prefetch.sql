-- At which hours of the day (UTC) items are looked at: how many viewers, as a moving average over days, and the day it was last
-- moved. A day without viewers is seen by its absence, so that only what is watched is written.
create table livewell_private.viewing_hour (
    hour integer not null,
    item_id bigint not null,
    level real not null,
    day integer not null,
    constraint viewing_hour_pkey primary key (item_id, hour),
    constraint viewing_hour_has_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade,
    constraint viewing_hour_is_of_a_day check (hour between 0 and 23)
) with (fillfactor = 70);
create index viewing_hour_best on livewell_private.viewing_hour (hour, level desc);

-- Items fetched ahead of their viewers, until it is known whether one came in time.
create table livewell_private.prefetch (
    item_id bigint not null,
    provider text not null,
    asked_at timestamptz not null,
    constraint prefetch_pkey primary key (item_id),
    constraint prefetch_has_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade
);

-- Whether fetching ahead pays off, by provider: how many were judged and how many had a viewer in time, old ones counting less.
create table livewell_private.prefetch_state (
    provider text not null,
    enabled boolean not null default true,
    judged double precision not null default 0,
    hits double precision not null default 0,
    switched_at timestamptz,
    constraint prefetch_state_pkey primary key (provider),
    constraint prefetch_state_has_a_provider foreign key (provider) references livewell_private.provider (name),
    constraint prefetch_hits_are_of_what_was_judged check (hits between 0 and judged)
) with (fillfactor = 50);

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.prefetch_items', 'integer', '100', '100', '0', '10000',
 'How many items one run fetches ahead of their viewers at most, by provider; 0 for none.'),
('freshness.prefetch_bucket', 'number', '0.8', '0.8', '0', '1',
 'How full the bucket of bytes must be before anything is fetched ahead of its viewers.'),
('freshness.prefetch_payoff', 'number', '0.2', '0.2', '0', '1',
 'Share of items fetched ahead that must have a viewer in time; below it fetching ahead is switched off.'),
('freshness.prefetch_again', 'duration', '1 day', '1 day', '00:01:00', '365 days',
 'When fetching ahead is tried again after it was switched off.')
on conflict (name) do nothing;

insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('viewing_hours', 'Remember at which hours items are looked at', 'livewell_private.task_viewing_hours',
 '15 minutes', null, '1 minute', '15 minutes', '5 minutes', '2 hours', clock_timestamp()),
('prefetch', 'Fetch what is likely to be looked at soon, with budget to spare', 'livewell_private.task_prefetch',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp())
on conflict (name) do nothing;
