-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.take_lock(p_name text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform from livewell.named_lock as l where l.name = p_name for update;
    if not found then
        raise exception using errcode = 'no_data_found', message = format('there is no lock %s', p_name);
    end if;
end $function$;
