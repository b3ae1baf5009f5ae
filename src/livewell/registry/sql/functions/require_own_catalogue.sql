-- The type whose keys Livewell itself keeps; refused when a table of the user's has them.
-- for: internal
create or replace function livewell_private.require_own_catalogue(p_type text) returns livewell_private.data_type
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type;
begin
    perform livewell_private.require_type(p_type);
    select t.* into strict v_type from livewell_private.data_type as t where t.name = p_type;
    if v_type.keys_table is not null then
        raise exception using errcode = 'LWR05', message = format('the keys of type %s are those of %s', p_type, v_type.keys_table),
            hint = 'change them there, or take keys out of the type';
    end if;
    return v_type;
end $$;
