-- The value of a duration setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_interval(p_name text) returns interval
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value interval;
begin
    select s.value::interval into v_value from livewell_private.setting s where s.name = p_name and s.type = 'duration';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'duration');
    end if;
    return v_value;
end
$$;
