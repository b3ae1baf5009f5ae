-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.record (
    data_type text not null,
    key text not null,
    value jsonb not null,
    fetched_at timestamp with time zone,
    source_time timestamp with time zone,
    ttl interval,
    first_seen_at timestamp with time zone not null default clock_timestamp(),
    constraint record_has_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name),
    constraint record_pkey PRIMARY KEY (data_type, key),
    constraint record_ttl_is_positive CHECK ((ttl > '00:00:00'::interval))
);
