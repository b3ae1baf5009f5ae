-- A value as a number, so that integers, numbers and durations are compared in one way; null for what has no order.
-- for: internal
create or replace function livewell_private.setting_size(p_type text, p_value text) returns numeric
language sql stable set search_path = pg_catalog, pg_temp as $$
    select case
        when p_type in ('integer', 'number') then p_value::numeric
        when p_type = 'duration' then extract(epoch from p_value::interval)
    end
$$;
