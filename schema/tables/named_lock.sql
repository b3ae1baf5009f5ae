-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.named_lock (
    name text not null,
    constraint named_lock_pkey PRIMARY KEY (name)
);
