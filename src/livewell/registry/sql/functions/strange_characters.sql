-- Characters that no key has, as they would move a reader's eyes or cursor: a class of a regular expression.
-- for: internal
create or replace function livewell_private.strange_characters() returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select '[\x01-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]'
$$;
