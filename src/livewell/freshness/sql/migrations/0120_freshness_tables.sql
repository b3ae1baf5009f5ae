-- Items: what is watched and what was learned of it. A tick costs what is due, because only watched items are in the index.

create table livewell_private.item (
    id bigint generated always as identity,
    data_type text not null,
    key text not null,
    viewers integer not null default 0,
    -- How many of them do not count for its rank: they look at very many items, or are anonymous among many.
    uncounted integer not null default 0,
    -- Not the number itself: a second viewer must not touch the index.
    watched boolean not null generated always as (viewers > 0) stored,
    due_at timestamptz not null,
    watched_since timestamptz,
    viewers_average double precision not null default 0,
    averaged_at timestamptz,
    fetched_at timestamptz,
    expires_at timestamptz,
    decision text,
    decided_at timestamptz,
    score double precision,
    last_outcome text,
    last_outcome_at timestamptz,
    last_reason text,
    failed_refreshes integer not null default 0,
    failed_check_at timestamptz,
    content_hash bytea,
    fetches integer not null default 0,
    changes integer not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 0.3,
    bytes_mean double precision,
    created_at timestamptz not null default clock_timestamp(),
    constraint item_pkey primary key (id),
    constraint item_is_one_per_type_and_key unique (data_type, key),
    constraint item_has_a_type foreign key (data_type) references livewell_private.data_type (name),
    constraint item_viewers_are_not_negative check (viewers >= 0),
    constraint item_counts_are_not_negative check (fetches >= 0 and changes between 0 and fetches and minutes_between >= 0),
    constraint item_rate_is_positive check (change_rate > 0 and rate_weight > 0),
    constraint item_uncounted_are_viewers check (uncounted = 0 or uncounted between 1 and viewers),
    constraint item_reason_is_short check (length(last_reason) <= 300),
    constraint item_failed_refreshes_are_not_negative check (failed_refreshes >= 0)
) with (fillfactor = 70);

create index item_due on livewell_private.item (due_at) where watched;

-- The last few outcomes of each item, newest first: what stays on record of a refresh when its job is dropped. Apart from `item`,
-- which is written more often, and in one row, so that a refresh writes one row and no index.
create type livewell_private.refresh_outcome as (
    job_id bigint, worker text, started_at timestamptz, finished_at timestamptz, outcome text, reason text
);
create table livewell_private.item_outcomes (
    item_id bigint not null,
    outcomes livewell_private.refresh_outcome[] not null,
    constraint item_outcomes_pkey primary key (item_id),
    constraint item_outcomes_have_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade
) with (fillfactor = 50);

-- What was learned of all items of a type together: where each begins. Finishes append, the checker folds. Of the keys that were
-- asked for the first time, new_keys counts all and new_found those the provider had; old ones count less. `refreshes` is how many were
-- completed, ever: finished jobs are dropped, and nobody counts them.
create table livewell_private.type_learning (
    data_type text not null,
    fetches double precision not null default 0,
    changes double precision not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 5,
    bytes_mean double precision,
    unchanged_bytes double precision,
    new_keys double precision not null default 0,
    new_found double precision not null default 0,
    refreshes double precision not null default 0,
    constraint type_learning_pkey primary key (data_type),
    constraint type_learning_has_a_type foreign key (data_type) references livewell_private.data_type (name)
) with (fillfactor = 50);

create table livewell_private.learned (
    id bigint generated always as identity,
    data_type text not null,
    fetches integer not null,
    changes integer not null,
    minutes_between double precision not null,
    slope double precision not null,
    information double precision not null,
    bytes double precision,
    sizes integer not null,
    unchanged_bytes double precision,
    unchanged_sizes integer not null,
    new_keys integer not null default 0,
    new_found integer not null default 0,
    refreshes integer not null default 0,
    constraint learned_pkey primary key (id)
);

-- The state of the controller that holds the price of a byte, by provider.
create table livewell_private.byte_price (
    provider text not null,
    integral double precision not null default ln(0.0002),
    price double precision not null default 0,
    bucket_share double precision,
    priced_at timestamptz,
    constraint byte_price_pkey primary key (provider),
    constraint byte_price_has_a_provider foreign key (provider) references livewell_private.provider (name)
) with (fillfactor = 50);

-- How far a walk over many rows has come, so that each run takes a slice and the next goes on.
create table livewell_private.freshness_walk (
    name text not null,
    reached text,
    begun_at timestamptz not null,
    due_at timestamptz not null,
    constraint freshness_walk_pkey primary key (name)
);

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

-- What viewers saw, by hour and type: minutes of viewers in all, within their TTL, expected to be as at the source, and not
-- harmfully stale; how long they had watched stale data and how far it was over its TTL, as histograms of viewer-minutes over
-- the steps of `wait_steps()`; and what fetches and random samples found.
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
    samples bigint not null default 0,
    samples_fresh bigint not null default 0,
    samples_ok bigint not null default 0,
    constraint freshness_hour_pkey primary key (hour, data_type, audience),
    constraint figures_have_a_type foreign key (data_type) references livewell_private.data_type (name) on delete cascade,
    constraint figures_audience_is_known check (audience in ('all', 'lone')),
    constraint figures_are_of_a_whole_hour check (hour = date_trunc('hour', hour, 'UTC')),
    constraint figures_are_parts_of_a_whole check (
        changes <= fetches and samples_fresh <= samples and samples_ok <= samples
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

-- Samples: refreshes of watched items drawn at random, whatever their age, because what the scheduler chooses to fetch says
-- nothing of what it does not. A sample is here from its drawing until its outcome.
create table livewell_private.sample (
    item_id bigint not null,
    drawn_at timestamptz not null,
    constraint sample_pkey primary key (item_id),
    constraint sample_has_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade
);

-- What samples found; finishes append, the figures' task folds.
create table livewell_private.sample_result (
    id bigint generated always as identity,
    data_type text not null,
    fresh boolean not null,
    ok boolean not null,
    constraint sample_result_pkey primary key (id)
);

-- What may go to samples at a provider is counted in calls: where a few keys share a request, a sample of one of them costs a whole call
-- and few bytes.
create table livewell_private.sample_allowance (
    provider text not null,
    hour timestamptz not null,
    requests bigint not null,
    credit double precision not null default 0,
    constraint sample_allowance_pkey primary key (provider),
    constraint sample_allowance_has_a_provider foreign key (provider) references livewell_private.provider (name),
    constraint sample_allowance_is_not_overdrawn check (credit >= 0)
) with (fillfactor = 50);

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

create type livewell_private.assessment as (
    item_id bigint, data_type text, key text, viewers integer, newest timestamptz, ttl interval, stale boolean, error text,
    opens_at timestamptz, score double precision, bytes double precision
);

create type livewell_private.decided_item as (
    item_id bigint, data_type text, key text, newest timestamptz, ttl interval, error text, score double precision,
    endpoint text, decision text, due_at timestamptz, priority integer
);

-- A refresh as it begins and as it ends: what is wanted of the queue, and what its item is told.
create type livewell_private.wanted_refresh as (item_id bigint, priority integer, cause text, asked_by text, never_stored boolean);

create type livewell_private.ended_refresh as (
    job_id bigint, item_id bigint, outcome text, reason text, hash bytea, bytes bigint, worker text, started_at timestamptz
);

-- What an endpoint takes now of refreshes: how many more may wait, how many requests can start soon, and how many bytes its provider has
-- left.
create type livewell_private.endpoint_headroom as (
    endpoint text, provider text, policy text, is_active boolean, quota_is_open boolean, bytes bigint, depth_limit bigint, depth bigint,
    soon bigint, new_keys bigint, at_once bigint
);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.max_items', 'integer', '1000', '1000', '1', '1000000', 'How many items one run of the checker checks.'),
('freshness.max_time', 'duration', '00:00:50', '00:00:50', '00:00:00.01', '01:00:00',
 'How long one run of the checker may go on taking more items.'),
('freshness.queued_again', 'duration', '00:02:00', '00:02:00', '00:00:01', '1 day',
 'When an item whose refresh was queued is checked again, if nothing was heard of it.'),
('freshness.check_again', 'duration', '00:00:05', '00:00:05', '00:00:00.1', '01:00:00',
 'When an item that is worth a refresh but found no headroom is checked again.'),
('freshness.horizon', 'duration', '00:00:03', '00:00:03', '00:00:00.1', '00:10:00',
 'How far ahead the value policy queues: what an endpoint can start in this time, and no more.'),
('freshness.mean_stay', 'duration', '00:12:00', '00:12:00', '00:00:10', '1 day',
 'How long a viewer stays on average: for so long today''s viewers count, after that the slow average.'),
('freshness.sweep_every', 'duration', '00:15:00', '00:15:00', '00:00:01', '1 day',
 'How long a full sweep over everything watched takes.'),
('freshness.scheduled_keys', 'integer', '1000', '1000', '1', '100000',
 'How many keys one run of the scheduled refreshes looks at, over all types.'),
('freshness.scheduled_depth', 'integer', '1000', '1000', '1', '1000000',
 'How many scheduled refreshes may wait at an endpoint; no more keys are walked until fewer do.'),
('freshness.figures_items', 'integer', '50000', '50000', '100', '10000000',
 'How many watched items the figures are taken of at most; of more, a random part.'),
('freshness.figures_retention', 'duration', '90 days', '90 days', '1 day', '3650 days',
 'How long the figures of freshness are kept.'),
('freshness.sample_share', 'number', '0.005', '0.005', '0', '0.1',
 'Share of the calls to a provider that goes to random samples; 0 for none.'),
('freshness.prefetch_items', 'integer', '100', '100', '0', '10000',
 'How many items one run fetches ahead of their viewers at most, by provider; 0 for none.'),
('freshness.prefetch_bucket', 'number', '0.8', '0.8', '0', '1',
 'How full the bucket of bytes must be before anything is fetched ahead of its viewers.'),
('freshness.prefetch_payoff', 'number', '0.2', '0.2', '0', '1',
 'Share of items fetched ahead that must have a viewer in time; below it fetching ahead is switched off.'),
('freshness.prefetch_again', 'duration', '1 day', '1 day', '00:01:00', '365 days',
 'When fetching ahead is tried again after it was switched off.'),
('freshness.failed_again_max', 'duration', '01:00:00', '01:00:00', '00:00:10', '7 days',
 'How long at most a watched item waits for another refresh after several have failed for good; each waits twice as long.'),
('freshness.asked_per_user', 'integer', '50', '50', '1', '100000',
 'How many refreshes that one user asked for by subscribing may wait at an endpoint; the checker takes the others in their turn.'),
('freshness.new_keys_share', 'number', '0.25', '0.25', '0.01', '1',
 'Which part of what an endpoint can start soon goes to keys that were never fetched while others wait; under the policy value.'),
('freshness.gone_again_max', 'duration', '1 day', '1 day', '00:00:10', '30 days',
 'How long at most a key that the provider does not have waits until it is asked for again; each time it is gone waits twice as long.');

-- The tasks that ship with this room.
insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('check', 'Find watched items that are stale and queue their refresh', 'livewell_private.task_check',
 '1 second', null, '1 second', '4 seconds', '1 minute', '3 minutes', clock_timestamp()),
('freshness_sweep', 'Look at everything watched, slowly, for what nobody told', 'livewell_private.task_freshness_sweep',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '20 minutes', clock_timestamp()),
('scheduled_refreshes', 'Walk the keys of scheduled types and queue what is stale', 'livewell_private.task_scheduled_refreshes',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '5 minutes', clock_timestamp()),
('freshness_figures', 'Take the figures of what viewers see', 'livewell_private.task_freshness_figures',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp()),
('freshness_retention', 'Drop figures of freshness that are too old', 'livewell_private.task_freshness_retention',
 '1 hour', null, '1 minute', '1 hour', '5 minutes', '3 hours', clock_timestamp()),
('freshness_samples', 'Draw watched items at random and refresh them, whatever their age', 'livewell_private.task_freshness_samples',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp()),
('viewing_hours', 'Remember at which hours items are looked at', 'livewell_private.task_viewing_hours',
 '15 minutes', null, '1 minute', '15 minutes', '5 minutes', '2 hours', clock_timestamp()),
('prefetch', 'Fetch what is likely to be looked at soon, with budget to spare', 'livewell_private.task_prefetch',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp());
