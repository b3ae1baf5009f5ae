-- The quotas as people see them: used, in flight, how far, open or not, and when they will be used up if the last day goes on.
-- for: service
create or replace function livewell.quota_states(p_now timestamptz default clock_timestamp())
returns table (
    provider text, quota_bytes bigint, allowed_bytes bigint, used_bytes bigint, in_flight_bytes bigint, share double precision,
    level integer, open boolean, open_for_scheduled boolean, opens_at timestamptz, exhausted_at timestamptz, bucket_bytes bigint,
    pace text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
begin
    return query
    select
        p.name, p.quota_bytes, r.allowed, r.used, r.in_flight,
        coalesce((r.used + r.in_flight) / nullif(r.allowed, 0)::double precision, 1), q.level,
        p.state = 'active' and r.used + r.in_flight < r.allowed, p.state = 'active' and not r.is_low and r.used + r.in_flight < r.allowed,
        case when r.used + r.in_flight >= r.allowed then f.opens_at end,
        case
            when r.used + r.in_flight >= r.allowed then p_now
            when p.pace <> 'even' then f.exhausted_at
        end,
        case when p.pace = 'even' then floor(r.bucket)::bigint end, p.pace
    from livewell_private.provider as p
    join livewell_private.quota_use as q on q.provider = p.name
    join lateral unnest(livewell_private.quotas_now(array[p.name], livewell_private.calls_in_flight(array[p.name], p_now), p_now)) as r on true
    -- Hour by hour into the future: what the last day used comes in, what falls out of the window goes.
    cross join lateral (
        select min(v_hour + c.hours * interval '1 hour') filter (where c.expected >= r.allowed) as exhausted_at,
            min(v_hour + c.hours * interval '1 hour') filter (where c.left_over < r.allowed) as opens_at
        from (
            select n.hours,
                r.used + r.in_flight - sum(coalesce(h.bytes, 0)) over (order by n.hours) as left_over,
                r.used + r.in_flight - sum(coalesce(h.bytes, 0)) over (order by n.hours) + n.hours * d.hourly as expected
            from generate_series(1, (extract(epoch from p.quota_window) / 3600)::integer) as n (hours)
            cross join (
                select coalesce(sum(h.bytes), 0) / 24 as hourly from livewell_private.quota_hour as h
                where h.provider = p.name and h.hour > v_hour - interval '1 day' and h.hour <= v_hour
            ) as d
            left join livewell_private.quota_hour as h
                on h.provider = p.name and h.hour = v_hour - p.quota_window + (n.hours - 1) * interval '1 hour'
        ) as c
    ) as f
    where p.quota_bytes is not null
    order by p.name;
end $$;
