-- The first moment after another at which a cron expression is due in a time zone; null when there is none in fifty years.
-- As Debian's cron: a fixed time that clocks skip comes right after the gap, one they show twice comes once; an expression
-- whose minute or hour begins with a star follows real time.
-- for: service
create or replace function livewell.next_cron_time(
    p_expression text, p_time_zone text, p_after timestamptz
) returns timestamptz
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_fields constant livewell_private.cron_fields := livewell_private.cron_fields(p_expression);
    v_local timestamp;
    v_day timestamp;
    v_next timestamptz;
begin
    v_local := p_after at time zone p_time_zone;
    for v_day in
        select d.day
        from (
            select date_trunc('day', v_local) - interval '1 day' + n * interval '1 day' as day
            from (select generate_series(0, 18300)) as s (n)
        ) as d
        where extract(month from d.day)::integer = any (v_fields.months)
            and case
                when v_fields.both_days_must_match then
                    extract(day from d.day)::integer = any (v_fields.days)
                    and (extract(dow from d.day)::integer = any (v_fields.weekdays)
                    or extract(isodow from d.day)::integer = any (v_fields.weekdays))
                else
                    extract(day from d.day)::integer = any (v_fields.days)
                    or extract(dow from d.day)::integer = any (v_fields.weekdays)
                    or extract(isodow from d.day)::integer = any (v_fields.weekdays)
            end
    loop
        if v_fields.follows_real_time then
            -- Minute by minute, one at a time, until one fits; a function in FROM would make them all first.
            select m.moment into v_next
            from (
                select generate_series(
                    greatest(
                        date_trunc('minute', p_after) + interval '1 minute',
                        (v_day at time zone p_time_zone) - interval '3 hours'
                    ),
                    ((v_day + interval '1 day') at time zone p_time_zone) + interval '3 hours',
                    interval '1 minute'
                )
            ) as m (moment)
            where date_trunc('day', m.moment at time zone p_time_zone) = v_day
                and extract(hour from m.moment at time zone p_time_zone)::integer = any (v_fields.hours)
                and extract(minute from m.moment at time zone p_time_zone)::integer = any (v_fields.minutes)
            limit 1;
        else
            select i.moment into v_next
            from (
                select v_day + make_interval(hours => h.hour, mins => m.minute) as shown
                from unnest(v_fields.hours) as h (hour) cross join unnest(v_fields.minutes) as m (minute)
            ) as c
            cross join lateral (select livewell_private.local_instant(c.shown, p_time_zone)) as i (moment)
            where c.shown > v_local and i.moment > p_after
            order by c.shown
            limit 1;
        end if;
        if v_next is not null then
            return v_next;
        end if;
    end loop;
    return null;
end $$;
