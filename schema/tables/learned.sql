-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.learned (
    id bigint not null generated always as identity,
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
    constraint learned_pkey PRIMARY KEY (id)
);
