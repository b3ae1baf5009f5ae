-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.api_key (
    provider text not null,
    name text not null,
    scope text not null,
    source text not null,
    enabled boolean not null default true,
    requests_per_minute integer,
    requests_per_hour integer,
    tokens_per_minute integer,
    tokens_per_hour integer,
    concurrent integer,
    granted bigint not null default 0,
    created_at timestamp with time zone not null default clock_timestamp(),
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint api_key_has_a_provider FOREIGN KEY (provider) REFERENCES livewell_private.provider(name),
    constraint api_key_is_a_name CHECK (((name ~ '^[^\s/@]{1,100}$'::text) AND (scope ~ '^[^\s/@]{1,100}$'::text))),
    constraint api_key_is_found_somewhere_safe CHECK ((source ~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$'::text)),
    constraint api_key_limits_are_positive CHECK (((requests_per_minute > 0) AND (requests_per_hour > 0) AND (tokens_per_minute > 0) AND (tokens_per_hour > 0) AND (concurrent > 0))),
    constraint api_key_pkey PRIMARY KEY (provider, name)
);
