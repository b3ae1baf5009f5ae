-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.findings_on_cron(p_type livewell.data_type, p_now timestamp with time zone)
 RETURNS TABLE(severity text, problem text, message text, fix text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_fix text;
begin
    if not exists (select from pg_catalog.pg_timezone_names as z where z.name = p_type.time_zone) then
        return query select 'error', 'cron', format('there is no time zone %L', p_type.time_zone),
            'write a name of the time zone database, as Europe/Berlin or UTC';
    elsif p_type.cron is not null and livewell.next_cron_time(p_type.cron, p_type.time_zone, p_now) is null then
        return query select 'error', 'cron', format('cron expression %L never comes', p_type.cron),
            'its day-of-month and month do not meet';
    end if;
exception
    when sqlstate 'LWT04' then
        get stacked diagnostics v_fix = pg_exception_hint;
        return query select 'error', 'cron', sqlerrm, v_fix;
end $function$;
