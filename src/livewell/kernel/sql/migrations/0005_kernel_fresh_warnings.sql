-- Warnings as they come, one row each, so that nobody waits for another's transaction to warn of the same; a task rolls them up
-- into the hours of `warning`.
create table livewell_private.fresh_warning (
    id bigint generated always as identity,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    warned_at timestamptz not null,
    constraint fresh_warning_pkey primary key (id),
    constraint fresh_warning_code_is_a_room_and_a_word check (code ~ '^[a-z]+\.[a-z_]+$')
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Whether the server's notification queue is so full that nothing of ours is notified: one row, read by all who would.
create table livewell_private.notification_state (
    alone boolean not null default true,
    quiet boolean not null default false,
    changed_at timestamptz not null default clock_timestamp(),
    constraint notification_state_pkey primary key (alone),
    constraint notification_state_is_one_row check (alone)
);
insert into livewell_private.notification_state default values;
