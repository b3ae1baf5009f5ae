-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.take_lock(p_name text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_name text;
begin
    -- A name that is not there would lock nothing.
    select l.name into strict v_name from livewell.named_lock as l where l.name = p_name for update;
end $function$;
