-- How much one read may bring.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('fetching.keys_per_read', 'integer', '1000', '1000', '1', '100000',
 'How many keys of a type one call may read.'),
('fetching.rows_per_key', 'integer', '1000', '1000', '1', '100000',
 'How many rows of one key are read at most, the newest first.')
on conflict (name) do nothing;
