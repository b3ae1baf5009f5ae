-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.caller (
    name text not null,
    in_flight text not null,
    waiting text not null,
    constraint caller_pkey PRIMARY KEY (name)
);
