-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.sample_allowance (
    provider text not null,
    hour timestamp with time zone not null,
    requests bigint not null,
    credit double precision not null default 0,
    constraint sample_allowance_has_a_provider FOREIGN KEY (provider) REFERENCES livewell_private.provider(name),
    constraint sample_allowance_is_not_overdrawn CHECK ((credit >= (0)::double precision)),
    constraint sample_allowance_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
