-- The one written form of a value of a type; null when it is not one. PostgreSQL 15 cannot ask without trying.
-- A bare number is not a duration: nobody could tell which unit was meant.
-- for: internal
create or replace function livewell_private.normalise_setting(p_type text, p_value text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
begin
    return case
        when p_type = 'boolean' then p_value::boolean::text
        when p_type = 'integer' then p_value::bigint::text
        when p_type = 'number' and abs(p_value::numeric) < 'infinity' then trim_scale(p_value::numeric)::text
        when p_type = 'duration' and p_value !~ '^[\s\d.+-]*$' and extract(epoch from p_value::interval) < 'infinity'
            then p_value::interval::text
        when p_type = 'json' then p_value::jsonb::text
        when p_type = 'text' then p_value
    end;
exception when data_exception then
    return null;
end
$$;
