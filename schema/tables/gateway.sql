-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.gateway (
    name text not null,
    last_seen timestamp with time zone not null,
    gone_after interval not null default '00:05:00'::interval,
    constraint gateway_is_a_name CHECK ((name ~ '^[^\s]{1,200}$'::text)),
    constraint gateway_pkey PRIMARY KEY (name)
) with (fillfactor=50);
