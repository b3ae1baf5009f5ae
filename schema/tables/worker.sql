-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.worker (
    id text not null,
    queue_groups text[] not null,
    kinds text[] not null,
    slots integer not null,
    idle boolean not null default false,
    started_at timestamp with time zone not null,
    last_seen timestamp with time zone not null,
    constraint worker_has_slots CHECK ((slots > 0)),
    constraint worker_pkey PRIMARY KEY (id)
) with (fillfactor=50);
