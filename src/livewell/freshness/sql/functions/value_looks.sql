-- Stale looks at providers whose refreshes are chosen by value, with what each refresh is worth at today's price and how many
-- bytes it is expected to take; the others as they are. The rate of change of an item is learned from how many of its fetches
-- had changed, over the time between them, and begins as its type's.
-- for: internal
create or replace function livewell.value_looks(p_looks livewell.look[], p_now timestamptz) returns livewell.look[]
language plpgsql stable security definer
set search_path = '' as $$
declare
    v_types constant text[] := array(
        select t.name from livewell.data_type as t
        join livewell.endpoint as e on e.name = t.endpoint
        join livewell.provider as p on p.name = e.provider
        where livewell.policy_of(p) = 'value'
    );
    v_looks livewell.look[] := array(select l from unnest(p_looks) as l where l.stale and l.data_type = any (v_types));
    v_bytes double precision[];
    v_scores double precision[];
begin
    if v_looks = '{}' then
        return p_looks;
    end if;
    select array_agg(k.bytes), livewell.score_items(
        array_agg(k.age), array_agg(k.ttl_minutes), array_agg(k.viewers),
        array_agg(k.viewers_average), array_agg(greatest(
            -ln(1 - least(0.98, k.changes / (k.fetches + 0.5))) / k.minutes, 0.001 / k.ttl_minutes
        )),
        array_agg(k.bytes), array_agg(k.wait), array_agg(k.value_rule),
        array_agg(k.price), 12
    )
    into v_bytes, v_scores
    from (
        select
            l.at, l.viewers, t.value_rule, i.viewers_average, n.ttl_minutes,
            coalesce(i.bytes_mean, y.bytes_mean, t.expected_bytes, e.expected_bytes) as bytes, coalesce(p.price, 0) as price,
            case when l.newest is null then 20 * n.ttl_minutes
                else greatest(n.ttl_minutes, extract(epoch from p_now - l.newest) / 60) end as age,
            greatest(0, extract(epoch from p_now - greatest(l.newest + l.ttl, i.watched_since)) / 60) as wait,
            i.fetches + 2 as fetches, i.changes + 2 * f.changed as changes,
            (i.minutes_between + 2 * f.minutes) / (i.fetches + 2) as minutes
        from unnest(v_looks) with ordinality
            as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, at)
        join livewell.item as i on i.id = l.item_id
        join livewell.data_type as t on t.name = l.data_type
        join livewell.endpoint as e on e.name = t.endpoint
        left join livewell.type_learning as y on y.data_type = l.data_type
        left join livewell.refresh_policy as p on p.provider = e.provider
        cross join lateral (select extract(epoch from l.ttl)::double precision / 60 as ttl_minutes) as n
        cross join lateral (
            select (coalesce(y.changes, 0) + 1.26) / (coalesce(y.fetches, 0) + 2) as changed,
                (coalesce(y.minutes_between, 0) + 2 * n.ttl_minutes) / (coalesce(y.fetches, 0) + 2) as minutes
        ) as f
        order by l.at
    ) as k;
    return array(select l from unnest(p_looks) as l where not (l.stale and l.data_type = any (v_types))) || array(
        select row (
            l.item_id, l.data_type, l.key, l.viewers, l.newest, l.ttl, l.stale, l.error, l.opens_at, l.value, l.size
        )::livewell.look
        from unnest(v_looks, v_scores, v_bytes)
            as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, value, size)
    );
end $$;
