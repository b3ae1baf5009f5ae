-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.fresh_warning (
    id bigint not null generated always as identity,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    warned_at timestamp with time zone not null,
    constraint fresh_warning_code_is_a_room_and_a_word CHECK ((code ~ '^[a-z]+\.[a-z_]+$'::text)),
    constraint fresh_warning_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
