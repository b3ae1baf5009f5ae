-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_primary()
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if pg_catalog.pg_is_in_recovery() then
        raise exception using
            errcode = 'LWK01',
            message = 'this server is a replica and decides nothing',
            hint = 'connect to the primary';
    end if;
end
$function$;
