-- What a queue written by hand begins with: one table, updated in place, an index of what is ready, a unique key that
-- nobody here uses; no leases, no history, no groups.
create table job (
    id bigint generated always as identity primary key,
    queue text not null default 'default',
    kind text not null default 'noop',
    payload jsonb not null,
    priority integer not null default 0,
    state smallint not null default 0,
    attempts integer not null default 0,
    most_attempts integer not null default 20,
    unique_key text,
    created_at timestamptz not null default now(),
    due_at timestamptz not null default now(),
    claimed_at timestamptz,
    claimed_by text,
    finished_at timestamptz
) with (fillfactor = 70);

create index job_ready on job (priority desc, created_at, id) where state = 0;
create unique index job_unique on job (unique_key) where unique_key is not null and state in (0, 1);
