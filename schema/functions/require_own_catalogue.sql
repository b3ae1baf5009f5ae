-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_own_catalogue(p_type text)
 RETURNS livewell.data_type
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;
