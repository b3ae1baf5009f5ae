-- Warns that the sessions of an exchange could not be had: its gate stays open.
-- for: service
create or replace function livewell.miss_calendar(
    p_exchange text, p_reason text, p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    perform livewell_private.warn('registry.calendar_missing', left(p_exchange, 100), p_reason, p_now);
end $$;
