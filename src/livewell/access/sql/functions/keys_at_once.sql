-- How many keys of a type one call for viewers reads: a thousand where each has one row, else ten with all their rows.
-- for: internal
create or replace function livewell_private.keys_at_once(p_type text) returns integer
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select case when livewell_private.has_one_row(livewell_private.type_named(p_type)) then 1000 else 10 end
$$;
