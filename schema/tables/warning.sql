-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.warning (
    hour timestamp with time zone not null,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    first_at timestamp with time zone not null,
    last_at timestamp with time zone not null,
    constraint warning_code_is_a_room_and_a_word CHECK ((code ~ '^[a-z]+\.[a-z_]+$'::text)),
    constraint warning_pkey PRIMARY KEY (hour, code, subject)
) with (fillfactor=50);
