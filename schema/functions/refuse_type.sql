-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_type(p_name text, p_problem text, p_fix text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    raise exception using errcode = 'LWR03', message = format('type %s: %s', p_name, p_problem),
        detail = format('type %s', p_name), hint = coalesce(p_fix, '');
end $function$;
