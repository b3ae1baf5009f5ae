-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_declared(p_errcode text, p_thing text, p_name text, p_problem text, p_fix text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    raise exception using errcode = p_errcode, message = format('%s %s: %s', p_thing, p_name, p_problem),
        detail = format('%s %s', p_thing, p_name), hint = coalesce(p_fix, '');
end $function$;
