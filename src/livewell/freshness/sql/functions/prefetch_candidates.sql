-- Stale items of a provider that nobody looks at and that are likely to be looked at within their TTL, by the hour of the day
-- and the slow average, the most viewer-minutes for a byte first. Only at endpoints where nobody waits. Looks at the thousand
-- best of an hour.
-- for: internal
create or replace function livewell_private.prefetch_candidates(p_provider text, p_limit bigint, p_now timestamptz)
returns table (item_id bigint, expected double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_day constant integer := floor(extract(epoch from p_now) / 86400);
begin
    return query
    with likely as (
        select h.item_id, max(h.level * power(0.7, greatest(0, v_day - 1 - h.day))) as level
        from (
            select distinct extract(hour from (p_now + n * interval '30 minutes') at time zone 'UTC')::integer as hour
            from generate_series(0, 1) as n
        ) as n
        cross join lateral (
            select v.item_id, v.level, v.day from livewell_private.viewing_hour as v where v.hour = n.hour order by v.level desc limit 1000
        ) as h
        group by h.item_id
    )
    select i.id, e.expected
    from likely as l
    join livewell_private.item as i on i.id = l.item_id and not i.watched and coalesce(i.expires_at <= p_now, true)
    join livewell_private.known_types as t on t.name = i.data_type and t.enabled and t.strategy <> 'scheduled'
    join livewell.endpoints as p on p.name = t.endpoint and p.provider = p_provider and p.state = 'active'
    left join livewell_private.type_learning as y on y.data_type = i.data_type
    cross join lateral (
        select (l.level + i.viewers_average * power(0.5::double precision, greatest(
            0, extract(epoch from p_now - coalesce(i.averaged_at, p_now))::double precision
        ) / livewell_private.viewers_half_life())) / 2 as expected
    ) as e
    where e.expected >= 0.1 and not exists (select from livewell_private.prefetch as f where f.item_id = i.id) and not exists (
        select from livewell_private.job_live as j where j.endpoint = t.endpoint and j.state = 'pending' and j.priority >= 0
    )
    order by e.expected * extract(epoch from t.ttl) / coalesce(i.bytes_mean, y.bytes_mean, t.expected_bytes, p.expected_bytes, 1) desc, i.id
    limit p_limit;
end $$;
