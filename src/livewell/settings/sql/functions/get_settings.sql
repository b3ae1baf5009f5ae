-- Every setting as it is, sensitive ones in clear, in one round trip: for processes, not for eyes (see the view `settings`).
-- for: service
create or replace function livewell.get_settings() returns table (
    name text, type text, value text, duration interval, sensitive boolean
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select s.name, s.type, s.value, case when s.type = 'duration' then s.value::interval end, s.sensitive
    from livewell_private.setting s
    order by s.name
$$;
