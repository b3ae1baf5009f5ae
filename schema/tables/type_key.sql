-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.type_key (
    data_type text not null,
    key text not null,
    active boolean not null default true,
    exchange text,
    created_at timestamp with time zone not null default clock_timestamp(),
    constraint type_key_exchange_is_a_code CHECK ((exchange ~ '^[A-Z0-9]{1,20}$'::text)),
    constraint type_key_has_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name),
    constraint type_key_pkey PRIMARY KEY (data_type, key)
);
