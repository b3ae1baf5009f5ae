-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.byte_price (
    provider text not null,
    integral double precision not null default ln(0.0002),
    price double precision not null default 0,
    bucket_share double precision,
    priced_at timestamp with time zone,
    constraint byte_price_has_a_provider FOREIGN KEY (provider) REFERENCES livewell_private.provider(name),
    constraint byte_price_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
