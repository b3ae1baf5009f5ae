-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.estimate (
    endpoint text not null,
    subject text not null,
    samples bigint not null default 0,
    bytes_mean double precision,
    bytes_spread double precision not null default 0,
    tokens_mean double precision,
    tokens_spread double precision not null default 0,
    over_twice bigint not null default 0,
    over_twice_at timestamp with time zone,
    updated_at timestamp with time zone not null,
    constraint estimate_has_an_endpoint FOREIGN KEY (endpoint) REFERENCES livewell_private.endpoint(name) ON DELETE CASCADE,
    constraint estimate_pkey PRIMARY KEY (endpoint, subject)
) with (fillfactor=70);
