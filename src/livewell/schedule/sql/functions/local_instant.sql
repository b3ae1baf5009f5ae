-- The moment a wall clock of a time zone shows a time: the first of two when clocks go back, and when the time is skipped
-- the moment right after the gap.
-- for: internal
create or replace function livewell_private.local_instant(p_local timestamp, p_time_zone text) returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select coalesce(
        (
            -- With the offset of the day before and of the day after: where both fit, the clock shows the time twice.
            select min(o.moment)
            from (
                select (p_local at time zone 'UTC') - (
                    ((p_local at time zone 'UTC') + n.days) at time zone p_time_zone
                    - (((p_local at time zone 'UTC') + n.days) at time zone 'UTC')
                )
                from (values (interval '-26 hours'), (interval '26 hours'), (interval '0')) as n (days)
            ) as o (moment)
            where o.moment at time zone p_time_zone = p_local
        ),
        (
            select (p_local + s.minutes * interval '1 minute') at time zone p_time_zone
            from generate_series(1, 1500) as s (minutes)
            where ((p_local + s.minutes * interval '1 minute') at time zone p_time_zone) at time zone p_time_zone
                = p_local + s.minutes * interval '1 minute'
            order by s.minutes
            limit 1
        )
    )
$$;
