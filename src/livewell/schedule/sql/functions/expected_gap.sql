-- The longest time between two runs of a cron expression among those that come next.
-- for: internal
create or replace function livewell_private.expected_gap(p_expression text, p_time_zone text, p_now timestamptz) returns interval
language sql stable
set search_path = pg_catalog, pg_temp as $$
    with recursive run (n, moment, gap) as (
        select 0, livewell.next_cron_time(p_expression, p_time_zone, p_now), interval '0'
        union all
        select r.n + 1, f.moment, f.moment - r.moment
        from run as r
        cross join lateral (select livewell.next_cron_time(p_expression, p_time_zone, r.moment)) as f (moment)
        where r.n < 7 and r.moment is not null
    )
    select max(r.gap) from run as r
$$;
