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
    jobs_per_request integer not null default 1,
    kept_briefly boolean not null default false,
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
    constraint kind_schema_is_an_object check (jsonb_typeof(payload_schema) = 'object'),
    constraint kind_request_serves_some_jobs check (jobs_per_request between 1 and 1000)
);

-- Jobs of a kind may share a request, where a provider answers for several keys at once: jobs_per_request. A lane is what claim can open or leave closed as a whole, so that what is closed costs nothing.
create table livewell_private.job_lane (
    id integer generated always as identity,
    kind text not null,
    endpoint text,
    constraint job_lane_pkey primary key (id),
    constraint lane_is_one_per_kind_and_endpoint unique nulls not distinct (kind, endpoint),
    constraint lane_has_a_kind foreign key (kind) references livewell_private.job_kind (kind)
);

create sequence livewell_private.job_id_seq as bigint;
create sequence livewell_private.bundle_seq;

-- What an attempt has reserved of its endpoint's budget, and by which key, is null while it has not. Of a bundle one job carries the
-- request, and the others are its passengers.
create table livewell_private.job (
    id bigint not null default nextval('livewell_private.job_id_seq'),
    state text not null default 'pending',
    lane_id integer not null,
    kind text not null,
    priority integer not null,
    due_at timestamptz not null,
    waiting_for text,
    attempt integer not null default 0,
    failures integer not null default 0,
    retries integer not null,
    payload jsonb not null,
    category text not null default 'standard',
    dedupe_key text collate "C",
    serial_key text collate "C",
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
    reserved_bytes bigint,
    reserved_tokens integer,
    api_key text,
    bundle bigint,
    is_passenger boolean,
    kept_briefly boolean
) partition by list (state);

-- One check only: it is read from its text anew by every statement that writes. What else only the queue's own functions could break
-- is asked of them by the tests; the lease, which decides who may finish, is checked.
create table livewell_private.job_live partition of livewell_private.job (
    constraint job_live_pkey primary key (id),
    constraint job_live_leased_has_token check ((state = 'processing') = (lease_token is not null))
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
where state = 'pending' and waiting_for is null;
create index job_live_deferred on livewell_private.job_live (due_at) where waiting_for = 'due';
-- A job waits behind another of its serial key only within its lane, because another lane may be closed: paused, full, or
-- served by nobody. One index finds what is ready of a key, one what is parked, and neither reads past the other's.
create index job_live_ready_of_serial_key on livewell_private.job_live (serial_key, priority desc, due_at, id)
where state = 'pending' and waiting_for is null and serial_key is not null;
create index job_live_parked on livewell_private.job_live (serial_key, lane_id, priority desc, due_at, id) where waiting_for = 'serial';
-- What runs, by lane and lease: it finds what ran out, and counts what runs at an endpoint, whose jobs are in lanes of their own. It goes
-- by the token, not by the state: whoever looks for what runs of a serial key names the state, and could be led here, past all that runs.
create index job_live_running on livewell_private.job_live (lane_id, lease_until) where lease_token is not null;
-- How many jobs wait for an endpoint: written when they are queued, and not when they are claimed.
create index job_live_waiting on livewell_private.job_live (endpoint) where state = 'pending' and endpoint is not null;
-- How many refreshes that a user asked for wait at an endpoint. Only refreshes are looked into: payloads of others may be large.
create index job_live_asked_by on livewell_private.job_live ((payload ->> 'asked_by'), endpoint)
where state = 'pending' and kind like 'refresh.%' and payload ? 'asked_by';

-- Completed jobs of some kinds are many, and what they did is told elsewhere: they are kept briefly (kept_briefly), apart from the
-- others (null), in partitions of half an hour.
create table livewell_private.job_ended partition of livewell_private.job
for values in ('completed', 'cancelled') partition by list (kept_briefly);
create table livewell_private.job_done partition of livewell_private.job_ended for values in (null) partition by range (finished_at);
create table livewell_private.job_done_default partition of livewell_private.job_done default;
create index job_done_id on livewell_private.job_done (id);
create table livewell_private.job_brief partition of livewell_private.job_ended for values in (true) partition by range (finished_at);
create table livewell_private.job_brief_default partition of livewell_private.job_brief default;
create index job_brief_id on livewell_private.job_brief (id);

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

-- Rows that a stranger's open transaction kept from us, and who it was: noted, reported, and done again when they are free. Notes are
-- only added, so that nobody waits for one.
create table livewell_private.locked_row (
    id bigint generated always as identity,
    table_name text not null,
    row_key text not null,
    noted_at timestamptz not null,
    holder text not null,
    constraint locked_row_pkey primary key (id)
);

create index locked_row_by_row on livewell_private.locked_row (table_name, row_key, noted_at);

-- What the steps of an enqueue and of a claim tell each other.
create type livewell_private.rescued_job as (job_id bigint, kind text, worker text, state text);
create type livewell_private.ended_jobs as (
    ids bigint[], states text[], serial_keys text[], kinds text[], spent livewell_private.spent_call[]
);
create type livewell_private.enqueued_jobs as (
    positions integer[], ids bigint[], outcomes text[], kinds text[], has_serial_keys boolean, left_over integer[]
);

-- What a lane may take of its endpoint's budget: requests it may start and slots left in those it has started, the largest
-- tokens and bytes of a job, what a job reserves whose size nobody knows, and which priority it needs at least.
create type livewell_private.lane_allowance as (
    requests bigint, free_slots integer, tokens bigint, bytes bigint, bytes_per_job bigint, lowest_priority integer
);

-- A lane that a claim may take from: at most so many jobs, because of its kind's cap; its allowance if it has an endpoint.
create type livewell_private.open_lane as (
    lane_id integer, kind text, queue_group text, share double precision, max_jobs integer, endpoint text, jobs_per_request integer,
    allowance livewell_private.lane_allowance
);

create type livewell_private.claim_view as (
    lanes livewell_private.open_lane[], default_lease interval, lease interval, has_serial_keys boolean, is_budgeted boolean
);

-- A job that a claim takes under budgets: its row by its place, what it reserves, its key, and its request if it shares one.
create type livewell_private.chosen_job as (
    place tid, lane_id integer, tokens integer, bytes bigint, api_key text, key_limit text, bundle bigint, is_passenger boolean
);

-- What a claim under budgets, or a round of it, has chosen: what it looked at, what the next round passes over, the jobs, what they
-- cost and what they leave.
create type livewell_private.claim_choice as (
    looked_at tid[], passed tid[], jobs livewell_private.chosen_job[], spending livewell_private.spending[],
    headroom livewell_private.headroom
);

-- How a claim is shared out: how many each lane gives, and which.
create type livewell_private.shared_jobs as (counts integer[], places tid[]);

-- The kinds of maintenance that ship with Livewell.
insert into livewell_private.job_kind (kind, queue_group, description)
values
('audit_cleanup', 'maintenance', 'Care of old audit records'),
('notification_delivery', 'maintenance', 'Delivery of a notification'),
('report_generation', 'maintenance', 'Making of a report'),
('backup_operation', 'maintenance', 'A backup'),
('system_maintenance', 'maintenance', 'Care of the system itself'),
('consent_verification', 'maintenance', 'Check that consent is still given');

-- How large a job and its result may be. The least is what every batch is passed without being looked at, job by job.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('jobs.payload_bytes', 'integer', '1048576', '1048576', '65536', '104857600',
 'How many bytes a job may have when it is queued, payload and all; larger things belong into a table of your own.'),
('jobs.retention.refreshes', 'duration', '01:00:00', '01:00:00', '00:15:00', '7 days',
 'How long completed refreshes are kept before their half hour is dropped; each item keeps its last few outcomes.'),
('jobs.result_bytes', 'integer', '1048576', '1048576', '65536', '104857600',
 'How many bytes what a finished job leaves may have: its result, its error and what it says of itself.');
