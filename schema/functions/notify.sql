-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.notify(p_channel text, p_payload text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform pg_notify(p_channel, p_payload) from livewell.notification_state as s where not s.quiet;
end $function$;
