-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.presence_source (
    name text not null,
    reads text not null,
    every interval not null default '00:00:10'::interval,
    enabled boolean not null default true,
    read_at timestamp with time zone,
    last_ok_at timestamp with time zone,
    silent_since timestamp with time zone,
    last_error text,
    rows_read integer not null default 0,
    rows_skipped integer not null default 0,
    created_at timestamp with time zone not null default clock_timestamp(),
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint presence_source_pkey PRIMARY KEY (name),
    constraint source_is_a_name CHECK ((name ~ '^[a-z][a-z0-9_-]{0,62}$'::text)),
    constraint source_is_read_within_a_minute CHECK (((every >= '00:00:01'::interval) AND (every <= '00:01:00'::interval))),
    constraint source_reads_something_of_a_schema CHECK ((reads ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'::text))
) with (fillfactor=70);
