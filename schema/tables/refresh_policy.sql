-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.refresh_policy (
    provider text not null,
    policy text,
    integral double precision not null default ln(0.0002),
    price double precision not null default 0,
    bucket_share double precision,
    priced_at timestamp with time zone,
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint policy_has_a_provider FOREIGN KEY (provider) REFERENCES livewell.provider(name),
    constraint policy_is_known CHECK ((policy = ANY (ARRAY['viewers'::text, 'value'::text]))),
    constraint refresh_policy_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
