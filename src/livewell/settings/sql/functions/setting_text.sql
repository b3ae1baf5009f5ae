-- The value of a text setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_text(p_name text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value text;
begin
    select s.value into v_value from livewell_private.setting s where s.name = p_name and s.type = 'text';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'text');
    end if;
    return v_value;
end
$$;
