-- What is stored of a key: its row, or the list of its rows, and when it was fetched.
create type livewell_private.stored_value as (key text, value jsonb, fetched_at timestamptz);
