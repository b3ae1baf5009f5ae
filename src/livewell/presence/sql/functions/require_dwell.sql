-- Refuses a time to dwell that is none.
-- for: internal
create or replace function livewell_private.require_dwell(p_dwell interval) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if p_dwell is null or p_dwell < interval '0' or p_dwell > interval '1 minute' then
        raise exception using errcode = 'LWP02', message = format('nobody can dwell for %s', coalesce(p_dwell::text, 'no time')),
            hint = 'from 0 to 1 minute; live.dwell';
    end if;
end $$;
