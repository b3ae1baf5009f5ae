-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.notify(p_channel text, p_payload text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if exists (select from livewell.notification_state as s where s.quiet) then
        return;
    end if;
    perform pg_notify(p_channel, p_payload);
end $function$;
