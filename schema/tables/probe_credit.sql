-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.probe_credit (
    provider text not null,
    hour timestamp with time zone not null,
    bytes bigint not null,
    credit double precision not null default 0,
    constraint probe_credit_has_a_provider FOREIGN KEY (provider) REFERENCES livewell.provider(name),
    constraint probe_credit_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
