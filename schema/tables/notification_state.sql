-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.notification_state (
    alone boolean not null default true,
    quiet boolean not null default false,
    changed_at timestamp with time zone not null default clock_timestamp(),
    constraint notification_state_is_one_row CHECK (alone),
    constraint notification_state_pkey PRIMARY KEY (alone)
);
