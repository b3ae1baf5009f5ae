-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.prefetch_state (
    provider text not null,
    enabled boolean not null default true,
    judged double precision not null default 0,
    hits double precision not null default 0,
    switched_at timestamp with time zone,
    constraint prefetch_hits_are_of_what_was_judged CHECK (((hits >= (0)::double precision) AND (hits <= judged))),
    constraint prefetch_state_has_a_provider FOREIGN KEY (provider) REFERENCES livewell_private.provider(name),
    constraint prefetch_state_pkey PRIMARY KEY (provider)
) with (fillfactor=50);
