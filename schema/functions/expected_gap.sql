-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.expected_gap(p_expression text, p_time_zone text, p_now timestamp with time zone)
 RETURNS interval
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    with recursive run (n, moment, gap) as (
        select 0, livewell.next_cron_time(p_expression, p_time_zone, p_now), interval '0'
        union all
        select r.n + 1, f.moment, f.moment - r.moment
        from run as r
        cross join lateral (select livewell.next_cron_time(p_expression, p_time_zone, r.moment)) as f (moment)
        where r.n < 7 and r.moment is not null
    )
    select max(r.gap) from run as r
$function$;
