-- The value of a number setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_number(p_name text) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value numeric;
begin
    select s.value::numeric into v_value from livewell_private.setting s where s.name = p_name and s.type = 'number';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'number');
    end if;
    return v_value;
end
$$;
