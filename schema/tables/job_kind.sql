-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.job_kind (
    kind text not null,
    queue_group text not null default 'general'::text,
    description text not null default ''::text,
    retries integer not null default 3,
    backoff_first interval not null default '00:00:10'::interval,
    backoff_max interval not null default '01:00:00'::interval,
    lease interval,
    time_limit interval,
    concurrency integer,
    default_priority integer not null default 5,
    payload_schema jsonb,
    paused_until timestamp with time zone,
    paused_reason text,
    created_at timestamp with time zone not null default clock_timestamp(),
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint job_kind_pkey PRIMARY KEY (kind),
    constraint kind_backoff_is_positive CHECK (((backoff_first > '00:00:00'::interval) AND (backoff_max >= backoff_first))),
    constraint kind_concurrency_is_positive CHECK ((concurrency > 0)),
    constraint kind_group_is_a_name CHECK ((queue_group ~ '^[a-z][a-z0-9_.-]{0,99}$'::text)),
    constraint kind_is_a_name CHECK ((kind ~ '^[a-z][a-z0-9_.-]{0,99}$'::text)),
    constraint kind_lease_is_positive CHECK ((lease > '00:00:00'::interval)),
    constraint kind_retries_in_range CHECK (((retries >= 0) AND (retries <= 1000))),
    constraint kind_schema_is_an_object CHECK ((jsonb_typeof(payload_schema) = 'object'::text)),
    constraint kind_time_limit_is_positive CHECK ((time_limit > '00:00:00'::interval))
);
