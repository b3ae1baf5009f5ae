-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.freshness_walk (
    name text not null,
    reached text,
    begun_at timestamp with time zone not null,
    due_at timestamp with time zone not null,
    constraint freshness_walk_pkey PRIMARY KEY (name)
);
