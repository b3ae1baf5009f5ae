-- The steps, in minutes, up to which times of waiting are counted; the first holds those who do not wait, the last all beyond.
-- for: internal
create or replace function livewell_private.wait_steps() returns double precision[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 25, 30, 45, 60, 120, 240, 480, 1440, 10080, 43200}'::double precision[]
$$;
