-- What is wrong with the cron expression of a type, or its time zone.
-- for: internal
create or replace function livewell_private.findings_on_cron(p_type livewell_private.data_type, p_now timestamptz)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
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
end $$;
