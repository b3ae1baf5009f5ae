-- Warnings: something odd that was survived, counted by hour, code and subject, with what was said last.
create table livewell_private.warning (
    hour timestamptz not null,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    constraint warning_pkey primary key (hour, code, subject),
    constraint warning_code_is_a_room_and_a_word check (code ~ '^[a-z]+\.[a-z_]+$')
) with (fillfactor = 50);
