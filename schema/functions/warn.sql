-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.warn(p_code text, p_subject text, p_message text, p_now timestamp with time zone, p_times integer DEFAULT 1)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    insert into livewell.fresh_warning (code, subject, warnings, message, warned_at)
    values (p_code, left(coalesce(p_subject, ''), 300), p_times, livewell.one_line(p_message, 2000), p_now);
end $function$;
