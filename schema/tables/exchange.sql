-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.exchange (
    code text not null,
    known_from timestamp with time zone,
    known_until timestamp with time zone,
    refreshed_at timestamp with time zone,
    constraint exchange_is_a_code CHECK ((code ~ '^[A-Z0-9]{1,20}$'::text)),
    constraint exchange_is_known_for_a_while CHECK ((((known_from IS NULL) = (known_until IS NULL)) AND (known_until > known_from))),
    constraint exchange_pkey PRIMARY KEY (code)
);
