-- Storing what was fetched: what a conditional request may say, and the shapes in which a batch passes from step to step.

create table livewell_private.fetch_state (
    item_id bigint not null,
    etag text,
    last_modified text,
    constraint fetch_state_pkey primary key (item_id),
    constraint fetch_state_is_of_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade,
    constraint fetch_state_says_something check (num_nonnulls(etag, last_modified) > 0)
) with (fillfactor = 70);

-- What a batch of ended refreshes is made of, each part by its name: what was told of a refresh, what was found of it, and both.

-- As it was told: the fields are those of its JSON. Without an item where its job is not that item's refresh.
create type livewell_private.ended_fetch as (
    job bigint, token uuid, item bigint, type text, key text, outcome text, rows jsonb, many boolean, source_time timestamptz, hash text,
    etag text, last_modified text, reason text, message text, seconds double precision, status integer, bytes bigint, tokens integer,
    rate jsonb, sent boolean
);

-- What was found of it: its outcome once it was tried to be stored.
create type livewell_private.fetch_verdict as (job bigint, outcome text, reason text, message text);

create type livewell_private.judged_fetch as (told livewell_private.ended_fetch, found livewell_private.fetch_verdict);

-- What is written to one column of a type's table, as an expression; without one it is left alone.
create type livewell_private.stored_column as (name text, type text, in_rows boolean, value text, is_changed boolean, is_filled boolean);

-- How the rows of a type go into its table: what is written, by what a row is known again, and why it cannot be, if so.
create type livewell_private.storing as (problem text, type livewell_private.data_type, columns livewell_private.stored_column[], row_key text[]);

-- What is stored of a key: its row, or the list of its rows, and when it was fetched.
create type livewell_private.stored_value as (key text, value jsonb, fetched_at timestamptz);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('fetching.keys_per_read', 'integer', '1000', '1000', '1', '100000',
 'How many keys of a type one call may read.'),
('fetching.rows_per_key', 'integer', '1000', '1000', '1', '100000',
 'How many rows of one key are read at most, the newest first.');
