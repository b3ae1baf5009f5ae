-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.warn(p_code text, p_subject text, p_message text, p_now timestamp with time zone, p_times integer DEFAULT 1)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    insert into livewell.warning as w (hour, code, subject, warnings, message, first_at, last_at)
    values (date_trunc('hour', p_now, 'UTC'), p_code, coalesce(p_subject, ''), p_times, livewell.one_line(p_message, 2000), p_now, p_now)
    on conflict (hour, code, subject) do update
    set warnings = w.warnings + excluded.warnings, message = excluded.message, last_at = greatest(w.last_at, excluded.last_at);
end $function$;
