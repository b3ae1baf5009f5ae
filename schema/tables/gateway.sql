-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.gateway (
    name text not null,
    last_seen timestamp with time zone not null,
    constraint gateway_is_a_name CHECK ((name ~ '^[^\s]{1,200}$'::text)),
    constraint gateway_pkey PRIMARY KEY (name)
) with (fillfactor=50);
