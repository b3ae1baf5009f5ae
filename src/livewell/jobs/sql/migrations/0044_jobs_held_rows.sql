-- Rows that a stranger's open transaction kept from us, and who it was: noted, reported, and done again when they are free. Notes are
-- only added, so that nobody waits for one.
create table livewell_private.held_row (
    id bigint generated always as identity,
    table_name text not null,
    row_key text not null,
    noted_at timestamptz not null,
    holder text not null,
    constraint held_row_pkey primary key (id)
);

create index held_row_by_row on livewell_private.held_row (table_name, row_key, noted_at);
