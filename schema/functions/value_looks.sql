-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.value_looks(p_looks livewell.look[], p_now timestamp with time zone)
 RETURNS livewell.look[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_valued livewell.look[];
begin
    with known as (
        select
            l.at, l.item_id, l.data_type, l.key, l.viewers, l.newest, l.ttl, l.stale, l.error, l.opens_at, t.value_rule,
            i.viewers_average, coalesce(i.bytes_mean, y.bytes_mean, t.expected_bytes, e.expected_bytes) as bytes,
            coalesce(p.price, 0) as price, n.ttl_minutes,
            case when l.newest is null then 20 * n.ttl_minutes
                else greatest(n.ttl_minutes, extract(epoch from p_now - l.newest) / 60) end as age,
            greatest(0, extract(epoch from p_now - greatest(l.newest + l.ttl, i.watched_since)) / 60) as wait,
            i.fetches + 2 as fetches, i.changes + 2 * f.changed as changes,
            (i.minutes_between + 2 * f.minutes) / (i.fetches + 2) as minutes
        from unnest(p_looks) with ordinality
            as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, at)
        join livewell.item as i on i.id = l.item_id
        join livewell.data_type as t on t.name = l.data_type
        join livewell.endpoint as e on e.name = t.endpoint
        left join livewell.type_learning as y on y.data_type = l.data_type
        left join livewell.refresh_policy as p on p.provider = e.provider
        cross join lateral (select extract(epoch from l.ttl) / 60 as ttl_minutes) as n
        cross join lateral (
            select (coalesce(y.changes, 0) + 1.26) / (coalesce(y.fetches, 0) + 2) as changed,
                (coalesce(y.minutes_between, 0) + 2 * n.ttl_minutes) / (coalesce(y.fetches, 0) + 2) as minutes
        ) as f
        where l.stale
    ),
    rated as (
        select k.*, greatest(
            -ln(1 - least(0.98, k.changes / (k.fetches + 0.5))) / k.minutes, 0.001 / k.ttl_minutes
        ) as rate
        from known as k
    ),
    scored as (
        select livewell.score_items(
            array_agg(r.age order by r.at), array_agg(r.ttl_minutes order by r.at), array_agg(r.viewers order by r.at),
            array_agg(r.viewers_average order by r.at), array_agg(r.rate order by r.at), array_agg(r.bytes order by r.at),
            array_agg(r.wait order by r.at), array_agg(r.value_rule order by r.at), array_agg(r.price order by r.at), 12
        ) as scores, array_agg(r.at order by r.at) as ats
        from rated as r
    )
    select array_agg(row (
        r.item_id, r.data_type, r.key, r.viewers, r.newest, r.ttl, r.stale, r.error, r.opens_at, s.score, r.bytes
    )::livewell.look)
    into v_valued
    from scored cross join lateral unnest(scored.ats, scored.scores) as s (at, score)
    join rated as r on r.at = s.at;
    return v_valued;
end $function$;
