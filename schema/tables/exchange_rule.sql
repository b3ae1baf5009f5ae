-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.exchange_rule (
    suffix text not null,
    exchange text not null,
    constraint exchange_rule_names_an_exchange CHECK ((exchange ~ '^[A-Z0-9]{1,20}$'::text)),
    constraint exchange_rule_pkey PRIMARY KEY (suffix),
    constraint exchange_rule_suffix_is_one CHECK ((suffix ~ '^(\.[A-Z0-9]{1,10})?$'::text))
);
