-- Tasks: what runs again and again, under a lease, and what became of its runs.

create table livewell_private.task (
    name text not null,
    description text not null default '',
    run text,
    every interval,
    cron text,
    time_zone text not null default 'UTC',
    jitter interval not null default interval '0',
    backoff_min interval not null default interval '20 minutes',
    backoff_max interval not null default interval '40 minutes',
    lease interval not null default interval '5 minutes',
    time_limit interval not null default interval '10 minutes',
    late_after interval not null,
    enabled boolean not null default true,
    due_at timestamptz not null default clock_timestamp(),
    epoch bigint not null default 0,
    lease_token uuid,
    lease_until timestamptz,
    holder text,
    started_at timestamptz,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    last_error jsonb,
    failures integer not null default 0,
    watched_since timestamptz not null default clock_timestamp(),
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint task_is_named_once primary key (name),
    constraint task_name_is_a_name check (name ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint task_runs_a_function_of_a_schema check (run ~ '^[a-z_][a-z0-9_]{0,62}\.[a-z_][a-z0-9_]{0,62}$'),
    constraint task_runs_by_interval_or_by_cron check ((every is null) <> (cron is null)),
    constraint task_every_is_at_least_a_moment check (every >= interval '100 milliseconds'),
    constraint task_jitter_is_not_negative check (jitter >= interval '0'),
    constraint task_backoff_is_a_range check (backoff_min > interval '0' and backoff_max >= backoff_min),
    constraint task_lease_is_at_least_a_moment check (lease >= interval '100 milliseconds'),
    constraint task_time_limit_is_positive check (time_limit > interval '0'),
    constraint task_late_after_is_positive check (late_after > interval '0'),
    constraint task_leased_has_a_holder check (
        (lease_token is null) = (lease_until is null) and (lease_token is null) = (holder is null)
        and (lease_token is null) = (started_at is null)
    )
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index task_due on livewell_private.task (due_at) where enabled;

-- Runs that did something, failed or were lost have a row each; quiet ones share a row per task and hour.
create table livewell_private.task_run (
    id bigint generated always as identity,
    task text not null,
    epoch bigint not null,
    node text not null,
    outcome text not null,
    hour timestamptz,
    started_at timestamptz not null,
    ended_at timestamptz not null,
    runs bigint not null default 1,
    total_time interval not null,
    longest_time interval not null,
    result jsonb,
    error jsonb,
    constraint task_run_is_recorded_once primary key (id),
    constraint task_run_outcome_is_known check (outcome in ('succeeded', 'failed', 'lost')),
    constraint task_run_is_folded_by_the_hour check (hour is not null or runs = 1)
) with (fillfactor = 70);

create unique index task_run_quiet on livewell_private.task_run (task, hour) where hour is not null;
create index task_run_of_task on livewell_private.task_run (task, id);
create index task_run_ended on livewell_private.task_run (ended_at);

-- What a cron expression says, and what taking answers.
create type livewell_private.cron_fields as (
    minutes integer [], hours integer [], days integer [], months integer [], weekdays integer [],
    both_days_must_match boolean, follows_real_time boolean
);
create type livewell_private.taken_task as (
    name text, run text, token uuid, epoch bigint, lease interval, time_limit interval
);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('schedule.poll_interval', 'duration', '00:00:15', '00:00:15', '00:00:00.05', '00:10:00',
 'How often a scheduler looks for due tasks when neither the clock nor a notification has told it to.'),
('schedule.history_retention', 'duration', '14 days', '14 days', '01:00:00', '3650 days',
 'How long the runs of tasks are kept.'),
('warnings.retention', 'duration', '30 days', '30 days', '01:00:00', '3650 days',
 'How long warnings are kept.');

-- The tasks that ship with the rooms below. The function of a task is its room's.
insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('rescue', 'Take back jobs of silent workers, mend serial keys, forget workers long unseen', 'livewell.task_rescue',
 '1 second', null, '1 second', '4 seconds', '1 minute', '2 minutes', clock_timestamp()),
('job_partitions', 'Make the partitions of the days ahead', 'livewell.task_job_partitions',
 '1 hour', null, '1 minute', '5 minutes', '1 minute', '3 hours', clock_timestamp()),
('job_retention', 'Drop partitions past their retention', 'livewell.task_job_retention',
 null, '0 2 * * 0', '20 minutes', '40 minutes', '10 minutes', '8 days',
 (date_trunc('week', clock_timestamp() at time zone 'UTC') + interval '6 days 2 hours') at time zone 'UTC'),
('audit_seal', 'Chain the audit entries written since the last seal', 'livewell.task_audit_seal',
 '10 seconds', null, '5 seconds', '20 seconds', '5 minutes', '10 minutes', clock_timestamp()),
('settings_care', 'Find settings whose value is outside its bounds', 'livewell.task_settings_care',
 '1 day', null, '20 minutes', '40 minutes', '1 minute', '2 days', clock_timestamp()),
('task_history', 'Forget runs of tasks past their retention', 'livewell_private.task_task_history',
 '1 hour', null, '20 minutes', '40 minutes', '5 minutes', '3 hours', clock_timestamp());

insert into livewell_private.task (
    name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('brief_retention', 'Drop completed refreshes past their retention', 'livewell.task_brief_retention',
 '5 minutes', '1 minute', '5 minutes', '1 minute', '1 hour', clock_timestamp()),
('budget_care', 'Book permits of silent holders, drop old hours of the ledger', 'livewell.task_budget_care',
 '1 minute', '10 seconds', '1 minute', '5 minutes', '10 minutes', clock_timestamp()),
('warnings', 'Roll up warnings by hour, drop those past their retention', 'livewell_private.task_warnings',
 '1 minute', '10 seconds', '1 minute', '1 minute', '10 minutes', clock_timestamp()),
('notification_queue', 'Keep the notification queue from filling up, name who holds it', 'livewell_private.task_notification_queue',
 '10 seconds', '5 seconds', '20 seconds', '1 minute', '2 minutes', clock_timestamp());
