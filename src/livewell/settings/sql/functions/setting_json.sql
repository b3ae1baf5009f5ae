-- The value of a JSON setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_json(p_name text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value jsonb;
begin
    select s.value::jsonb into v_value from livewell_private.setting s where s.name = p_name and s.type = 'json';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'json');
    end if;
    return v_value;
end
$$;
