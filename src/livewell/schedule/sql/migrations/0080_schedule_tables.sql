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
