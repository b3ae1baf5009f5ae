-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_unknown_keys(p_types text[], p_keys text[])
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_unknown record;
begin
    select u.* into v_unknown from livewell.unknown_keys(p_types, p_keys) as u limit 1;
    if found then
        raise exception using errcode = 'LWR07',
            message = format('%s is not in the catalogue of type %s', to_json(left(v_unknown.key, 100)), v_unknown.data_type),
            hint = format('only known keys are watched: livewell keys list %s, or add it to the catalogue', v_unknown.data_type);
    end if;
end $function$;
