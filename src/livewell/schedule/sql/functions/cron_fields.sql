-- What a cron expression says, or the fact of which of its fields is wrong. Five fields as Debian's cron has them.
-- for: internal
create or replace function livewell_private.cron_fields(p_expression text) returns livewell_private.cron_fields
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_text constant text := case lower(btrim(p_expression))
        when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *' when '@monthly' then '0 0 1 * *'
        when '@weekly' then '0 0 * * 0' when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *'
        when '@hourly' then '0 * * * *'
        else btrim(p_expression, E' \t')
    end;
    v_parts constant text[] := regexp_split_to_array(v_text, '\s+');
    v_fields livewell_private.cron_fields;
    v_wrong text;
begin
    if cardinality(v_parts) is distinct from 5 then
        raise exception using errcode = 'LWT04', message = format('%L is not a cron expression', p_expression),
            hint = 'write five fields, minute hour day-of-month month day-of-week, or @hourly, @daily, @weekly, @monthly, @yearly';
    end if;
    v_fields.minutes := livewell_private.cron_field(v_parts[1], 0, 59);
    v_fields.hours := livewell_private.cron_field(v_parts[2], 0, 23);
    v_fields.days := livewell_private.cron_field(v_parts[3], 1, 31);
    v_fields.months := livewell_private.cron_field(
        v_parts[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}');
    v_fields.weekdays := livewell_private.cron_field(v_parts[5], 0, 7, '{sun,mon,tue,wed,thu,fri,sat}');
    v_wrong := case
        when v_fields.minutes is null then 'minute ' || v_parts[1]
        when v_fields.hours is null then 'hour ' || v_parts[2]
        when v_fields.days is null then 'day-of-month ' || v_parts[3]
        when v_fields.months is null then 'month ' || v_parts[4]
        when v_fields.weekdays is null then 'day-of-week ' || v_parts[5]
    end;
    if v_wrong is not null then
        raise exception using errcode = 'LWT04',
            message = format('cron expression %L: its field %s is wrong', p_expression, v_wrong),
            hint = 'a field is *, a number, a range 1-5, a step */10 or 1-30/5, or a list of those; months and weekdays have names';
    end if;
    v_fields.both_days_must_match := v_parts[3] like '*%' or v_parts[5] like '*%';
    v_fields.follows_real_time := v_parts[1] like '*%' or v_parts[2] like '*%';
    return v_fields;
end $$;
