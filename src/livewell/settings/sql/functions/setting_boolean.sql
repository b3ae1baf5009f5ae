-- The value of a boolean setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_boolean(p_name text) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value boolean;
begin
    select s.value::boolean into v_value from livewell_private.setting s where s.name = p_name and s.type = 'boolean';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'boolean');
    end if;
    return v_value;
end
$$;
