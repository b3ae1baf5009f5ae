-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.scheduled_walk (
    data_type text not null,
    cron text not null,
    time_zone text not null,
    next_at timestamp with time zone not null,
    begun_at timestamp with time zone,
    reached text,
    wanted boolean not null default false,
    keys bigint not null default 0,
    queued bigint not null default 0,
    sliced_at timestamp with time zone,
    ended_at timestamp with time zone,
    constraint scheduled_walk_has_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name) ON DELETE CASCADE,
    constraint scheduled_walk_pkey PRIMARY KEY (data_type),
    constraint walk_counts_are_not_negative CHECK (((keys >= 0) AND ((queued >= 0) AND (queued <= keys)))),
    constraint walk_under_way_has_begun CHECK (((begun_at IS NOT NULL) OR ((reached IS NULL) AND (NOT wanted))))
) with (fillfactor=50);
