-- The type whose keys Livewell itself keeps; refused when a table of the user's has them.
-- for: internal
create or replace function livewell.require_own_catalogue(p_type text) returns livewell.data_type
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell.data_type;
begin
    perform livewell.require_type(p_type);
    select t.* into strict v_type from livewell.data_type as t where t.name = p_type;
    if v_type.keys_table is not null then
        raise exception using errcode = 'LWR05', message = format('the keys of type %s are those of %s', p_type, v_type.keys_table),
            hint = 'change them there, or take keys out of the type';
    end if;
    return v_type;
end $$;
