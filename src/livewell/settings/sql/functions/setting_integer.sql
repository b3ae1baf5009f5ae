-- The value of an integer setting, for the decisions of other functions; a name that is not one is refused, never null.
-- for: service
create or replace function livewell.setting_integer(p_name text) returns bigint
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_value bigint;
begin
    select s.value::bigint into v_value from livewell_private.setting s where s.name = p_name and s.type = 'integer';
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name, 'integer');
    end if;
    return v_value;
end
$$;
