-- The least a queue can be: one table, updated in place, no leases, no history, no keys.
create table job (
    id bigint generated always as identity primary key,
    kind text not null default 'noop',
    payload jsonb not null,
    priority integer not null default 0,
    state smallint not null default 0,
    attempts integer not null default 0,
    created_at timestamptz not null default now(),
    claimed_at timestamptz,
    finished_at timestamptz
) with (fillfactor = 70);

create index job_ready on job (priority desc, created_at, id) where state = 0;
