-- How near an endpoint or its account is to a limit of its rate: the largest used share of its windows, 1 while it is closed,
-- 0 if it has no limit. An unlocked look, good enough to slow down by.
-- for: internal
create or replace function livewell_private.limit_pressure(p_endpoint text, p_now timestamptz) returns double precision
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select coalesce(max(l.used_share), 0)
        from unnest(livewell_private.limits_now(array[p_endpoint, split_part(p_endpoint, '/', 1)], null, p_now)) as l
    );
end $$;
