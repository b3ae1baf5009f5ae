-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.as_declared(p_thing livewell.declared_thing, p_old anyelement, p_key jsonb, p_fields jsonb, p_now timestamp with time zone)
 RETURNS anyelement
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select jsonb_populate_record(p_old, case
        when p_old is null
            then (p_thing).defaults || jsonb_build_object('created_at', p_now, 'updated_at', p_now) || p_key || p_fields
        else p_fields
    end)
$function$;
