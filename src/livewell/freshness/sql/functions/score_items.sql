-- What a refresh is worth, in minutes of viewers spared a harmful staleness, less the price of the bytes it is expected to take.
-- Times in minutes; an age of null is a row that is missing. Under `observed` harm is "past its TTL and changed at the source" at
-- the learned rate of change; under `contract` it is "past its TTL". Today's viewers count for a mean stay, the slow average for
-- what comes after; who waits counts for more. An answer that says "unchanged" is cheap where the API has one.
-- for: internal
create or replace function livewell_private.score_items(
    p_ages double precision[], p_ttls double precision[], p_viewers double precision[], p_averages double precision[],
    p_rates double precision[], p_bytes double precision[], p_unchanged_bytes double precision[], p_waits double precision[],
    p_rules text[], p_prices double precision[], p_stay double precision
) returns double precision[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return array(
        select (
                s.viewers * least(g.gain, p_stay)
                + s.average * greatest(0, least(g.gain, 20 * s.ttl) - p_stay)
            ) * (1 + s.wait / 30) - s.price * (s.bytes + (s.unchanged_bytes - s.bytes) * r.still)
        from unnest(p_ages, p_ttls, p_viewers, p_averages, p_rates, p_bytes, p_unchanged_bytes, p_waits, p_rules, p_prices) with ordinality
            as s (age, ttl, viewers, average, rate, bytes, unchanged_bytes, wait, rule, price, at)
        cross join lateral (
            select case when s.age is null then 0 else exp(-least(s.rate * s.age, 50)) end as still
        ) as r
        cross join lateral (
            select case when s.rule = 'contract' then s.ttl
                else s.ttl - coalesce(s.age, 0) * r.still + (exp(-least(s.rate * s.ttl, 50)) - r.still) / s.rate
            end as gain
        ) as g
        order by s.at
    );
end $$;
