-- Stale assessments of providers whose refreshes are chosen by value, with what each refresh is worth at today's price and how many
-- bytes it may take; the others as they are. An item nobody has learned of changes as its type does. Viewers that do not count weigh
-- a hundredth: behind all others, and not forgotten.
-- for: internal
create or replace function livewell_private.value_assessments(p_assessments livewell_private.assessment[], p_now timestamptz) returns livewell_private.assessment[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_types constant text[] := array(
        select t.name from livewell_private.known_types as t
        join livewell.endpoints as e on e.name = t.endpoint
        join livewell_private.provider as p on p.name = e.provider
        where livewell_private.policy_of(p) = 'value'
    );
    v_assessments livewell_private.assessment[] := array(select l from unnest(p_assessments) as l where l.stale and l.data_type = any (v_types));
    v_stay constant double precision := extract(epoch from livewell.setting_interval('freshness.mean_stay')) / 60;
    v_rates double precision[];
    v_bytes double precision[];
    v_scores double precision[];
begin
    if v_assessments = '{}' then
        return p_assessments;
    end if;
    v_rates := livewell_private.change_rates(
        array(select l.item_id from unnest(v_assessments) as l),
        array(select extract(epoch from l.ttl)::double precision / 60 from unnest(v_assessments) as l)
    );
    select array_agg(k.bytes), livewell_private.score_items(
        array_agg(k.age), array_agg(k.ttl_minutes), array_agg(k.viewers), array_agg(k.average), array_agg(k.rate), array_agg(k.bytes),
        array_agg(k.unchanged_bytes), array_agg(k.wait), array_agg(k.value_rule), array_agg(k.price), v_stay
    )
    into v_bytes, v_scores
    from (
        select
            (l.viewers + 0.01 * i.uncounted)::double precision as viewers, t.value_rule, n.ttl_minutes, b.bytes, coalesce(y.unchanged_bytes, b.bytes) as unchanged_bytes,
            coalesce(p.price, 0) as price, l.rate,
            l.viewers + 0.01 * i.uncounted + (i.viewers_average - l.viewers)
                * power(0.5::double precision, greatest(
                    0, extract(epoch from p_now - i.averaged_at)::double precision
                ) / livewell_private.viewers_half_life()) as average,
            extract(epoch from p_now - l.newest)::double precision / 60 as age,
            greatest(0, extract(epoch from p_now - greatest(l.newest + l.ttl, i.watched_since)) / 60)::double precision as wait
        from unnest(v_assessments, v_rates) with ordinality
            as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, rate, at)
        join livewell_private.item as i on i.id = l.item_id
        join livewell_private.known_types as t on t.name = l.data_type
        join livewell.endpoints as e on e.name = t.endpoint
        left join livewell_private.type_learning as y on y.data_type = l.data_type
        left join livewell_private.byte_price as p on p.provider = e.provider
        cross join lateral (select extract(epoch from l.ttl)::double precision / 60 as ttl_minutes) as n
        cross join lateral (
            select coalesce(i.bytes_mean, y.bytes_mean, t.expected_bytes, e.expected_bytes) as bytes
        ) as b
        order by l.at
    ) as k;
    return array(select l from unnest(p_assessments) as l where not (l.stale and l.data_type = any (v_types))) || array(
        select row (
            l.item_id, l.data_type, l.key, l.viewers, l.newest, l.ttl, l.stale, l.error, l.opens_at, l.value, l.size
        )::livewell_private.assessment
        from unnest(v_assessments, v_scores, v_bytes)
            as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, value, size)
    );
end $$;
