-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_limit(p_name text)
 RETURNS livewell.limit_use
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_use livewell.limit_use;
begin
    select u.* into v_use from livewell.limit_use as u where u.name = p_name for update;
    if not found then
        raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(p_name, '')),
            hint = 'livewell endpoints list';
    end if;
    return v_use;
end $function$;
