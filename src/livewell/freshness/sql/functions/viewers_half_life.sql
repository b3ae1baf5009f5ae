-- After how many seconds half of the slow average of an item's viewers is forgotten: a day.
-- for: internal
create or replace function livewell_private.viewers_half_life() returns double precision
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select 86400::double precision
$$;
