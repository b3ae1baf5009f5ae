-- How often each user has asked for a check in the running minute: one row per user, written over.
create table livewell_private.user_call (
    user_id text not null,
    minute timestamptz not null,
    calls integer not null,
    constraint user_call_pkey primary key (user_id)
) with (fillfactor = 50);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('presence.checks_per_minute', 'integer', '120', '120', '1', '100000',
 'How many checks on subscribing one user may ask for in a minute.')
on conflict (name) do nothing;
