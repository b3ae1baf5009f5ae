-- A time as text says it, in UTC where it names no zone; null when it says none.
-- for: internal
create or replace function livewell_private.read_time(p_text text) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
    return p_text::timestamptz;
exception when data_exception then
    return null;
end $$;
