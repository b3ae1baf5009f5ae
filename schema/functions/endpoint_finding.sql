-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.endpoint_finding(p_endpoint text)
 RETURNS TABLE(severity text, problem text, message text, fix text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_endpoint(p_endpoint);
exception
    when sqlstate 'LWB01' then
        get stacked diagnostics message = message_text, fix = pg_exception_hint;
        severity := 'error';
        problem := 'no_endpoint';
        return next;
end $function$;
