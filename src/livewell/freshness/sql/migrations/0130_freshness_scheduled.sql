-- How far each type's scheduled walk over its keys has come. A time of the cron expression begins a walk; one that comes while
-- a walk is under way is noted, and the next walk begins when this one ends.
create table livewell_private.scheduled_walk (
    data_type text not null,
    cron text not null,
    time_zone text not null,
    next_at timestamptz not null,
    begun_at timestamptz,
    reached text,
    wanted boolean not null default false,
    keys bigint not null default 0,
    queued bigint not null default 0,
    sliced_at timestamptz,
    ended_at timestamptz,
    constraint scheduled_walk_pkey primary key (data_type),
    constraint scheduled_walk_has_a_type foreign key (data_type) references livewell_private.data_type (name) on delete cascade,
    constraint walk_under_way_has_begun check (begun_at is not null or (reached is null and not wanted)),
    constraint walk_counts_are_not_negative check (keys >= 0 and queued between 0 and keys)
) with (fillfactor = 50);

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.scheduled_keys', 'integer', '1000', '1000', '1', '100000',
 'How many keys one run of the scheduled refreshes looks at, over all types.'),
('freshness.scheduled_depth', 'integer', '1000', '1000', '1', '1000000',
 'How many scheduled refreshes may wait at an endpoint; no more keys are walked until fewer do.')
on conflict (name) do nothing;

insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('scheduled_refreshes', 'Walk the keys of scheduled types and queue what is stale', 'livewell_private.task_scheduled_refreshes',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '5 minutes', clock_timestamp())
on conflict (name) do nothing;
