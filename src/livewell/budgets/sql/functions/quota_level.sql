-- The level a quota has reached, in percent of what is allowed: what alerts are about.
-- for: internal
create or replace function livewell_private.quota_level(p_used bigint, p_allowed bigint) returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return case
        when p_used >= p_allowed then 100 when p_used >= 0.9 * p_allowed then 90 when p_used >= 0.75 * p_allowed then 75 else 0
    end;
end $$;
