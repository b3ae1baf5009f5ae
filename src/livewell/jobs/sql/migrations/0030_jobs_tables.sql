-- The queue: kinds, lanes, jobs partitioned by state, attempts, and the workers that are there.

create table livewell_private.job_kind (
    kind text not null,
    queue_group text not null default 'general',
    description text not null default '',
    retries integer not null default 3,
    backoff_first interval not null default interval '10 seconds',
    backoff_max interval not null default interval '1 hour',
    lease interval,
    time_limit interval,
    concurrency integer,
    default_priority integer not null default 5,
    payload_schema jsonb,
    paused_until timestamptz,
    paused_reason text,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint job_kind_pkey primary key (kind),
    constraint kind_is_a_name check (kind ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint kind_group_is_a_name check (queue_group ~ '^[a-z][a-z0-9_.-]{0,99}$'),
    constraint kind_retries_in_range check (retries between 0 and 1000),
    constraint kind_backoff_is_positive check (backoff_first > interval '0' and backoff_max >= backoff_first),
    constraint kind_lease_is_positive check (lease > interval '0'),
    constraint kind_time_limit_is_positive check (time_limit > interval '0'),
    constraint kind_concurrency_is_positive check (concurrency > 0),
    constraint kind_schema_is_an_object check (jsonb_typeof(payload_schema) = 'object')
);

-- A lane is what claim can open or leave closed as a whole, so that what is closed costs nothing.
create table livewell_private.job_lane (
    id integer generated always as identity,
    kind text not null,
    endpoint text,
    constraint job_lane_pkey primary key (id),
    constraint lane_is_one_per_kind_and_endpoint unique nulls not distinct (kind, endpoint),
    constraint lane_has_a_kind foreign key (kind) references livewell_private.job_kind (kind)
);

create sequence livewell_private.job_id_seq as bigint;

create table livewell_private.job (
    id bigint not null default nextval('livewell_private.job_id_seq'),
    state text not null default 'pending',
    lane_id integer not null,
    kind text not null,
    priority integer not null,
    due_at timestamptz not null,
    held text,
    attempt integer not null default 0,
    failures integer not null default 0,
    retries integer not null,
    payload jsonb not null,
    category text not null default 'standard',
    dedupe_key text,
    serial_key text,
    endpoint text,
    estimated_bytes bigint,
    estimated_tokens integer not null default 1000,
    lease_token uuid,
    lease_until timestamptz,
    worker text,
    started_at timestamptz,
    cancel_reason text,
    trace_context jsonb,
    created_at timestamptz not null,
    finished_at timestamptz,
    result jsonb,
    actual_bytes bigint,
    error jsonb,
    reason text,
    acknowledged_at timestamptz,
    acknowledged_by text,
    constraint job_payload_is_an_object check (jsonb_typeof(payload) = 'object')
) partition by list (state);

create table livewell_private.job_live partition of livewell_private.job (
    constraint job_live_pkey primary key (id),
    constraint job_leased_has_lease check (
        (state = 'processing') = (lease_token is not null and lease_until is not null and worker is not null)
    ),
    constraint job_held_is_pending check (held is null or (held in ('due', 'serial') and state = 'pending')),
    constraint job_live_is_unfinished check (finished_at is null)
) for values in ('pending', 'processing')
with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_scale_factor = 0.5,
    autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

create unique index job_live_one_per_dedupe_key on livewell_private.job_live (dedupe_key) where dedupe_key is not null;
create unique index job_live_one_running_per_serial_key on livewell_private.job_live (serial_key)
where state = 'processing' and serial_key is not null;
create index job_live_ready on livewell_private.job_live (lane_id, priority desc, due_at, id)
where state = 'pending' and held is null;
create index job_live_deferred on livewell_private.job_live (due_at) where held = 'due';
create index job_live_serial on livewell_private.job_live (serial_key, priority desc, due_at, id)
where state = 'pending' and serial_key is not null;
create index job_live_lease on livewell_private.job_live (lease_until) where state = 'processing';

create table livewell_private.job_done partition of livewell_private.job
for values in ('completed', 'cancelled') partition by range (finished_at);
create table livewell_private.job_done_default partition of livewell_private.job_done default;
create index job_done_id on livewell_private.job_done (id);

create table livewell_private.job_failed partition of livewell_private.job for values in ('failed') partition by range (finished_at);
create table livewell_private.job_failed_default partition of livewell_private.job_failed default;
create index job_failed_id on livewell_private.job_failed (id);

-- Attempts that did not end their job; the last attempt of a finished job is the finished row itself.
create table livewell_private.job_attempt (
    job_id bigint not null,
    attempt integer not null,
    worker text,
    started_at timestamptz,
    ended_at timestamptz not null,
    outcome text not null,
    error jsonb,
    reason text,
    constraint attempt_outcome_is_known check (
        outcome in ('failed', 'rescheduled', 'reset', 'rescued', 'dead')
    )
) partition by range (ended_at);
create table livewell_private.job_attempt_default partition of livewell_private.job_attempt default;
create index job_attempt_job on livewell_private.job_attempt (job_id, attempt);

create table livewell_private.worker (
    id text not null,
    queue_groups text [] not null,
    kinds text [] not null,
    slots integer not null,
    idle boolean not null default false,
    started_at timestamptz not null,
    last_seen timestamptz not null,
    constraint worker_pkey primary key (id),
    constraint worker_has_slots check (slots > 0)
) with (fillfactor = 50);

-- What the steps of an enqueue and of a claim tell each other.
create type livewell_private.open_lane as (
    lane_id integer, kind text, queue_group text, share double precision, room integer
);
create type livewell_private.rescued_job as (job_id bigint, kind text, worker text, state text);
create type livewell_private.ended_jobs as (ids bigint [], states text [], serial_keys text [], kinds text []);
create type livewell_private.enqueued_jobs as (
    positions integer [], ids bigint [], outcomes text [], kinds text [], has_serial_keys boolean, left_over integer []
);
create type livewell_private.claim_view as (default_lease interval, lanes livewell_private.open_lane []);
