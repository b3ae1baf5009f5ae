-- Counts what viewers see at this moment for as many minutes: whether it is within its TTL, how likely it is still as at the
-- source by the learned rate of change, whether it does harm (over its TTL and, but for `contract`, changed), for how long they
-- have watched it stale and how far it is over its TTL. Lone viewers are counted apart too.
-- for: internal
create or replace function livewell_private.take_figures(p_minutes double precision, p_now timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ids bigint[];
    v_weights double precision[];
    v_rates double precision[];
    v_steps constant double precision[] := livewell_private.wait_steps();
begin
    select array_agg(s.item_id), array_agg(s.weight * p_minutes) into v_ids, v_weights
    from livewell_private.random_watched(livewell.setting_integer('freshness.figures_items')) as s;
    v_rates := livewell_private.change_rates(v_ids, array(
        select extract(epoch from t.ttl)::double precision / 60
        from unnest(v_ids) with ordinality as s (item_id, at)
        left join livewell_private.item as i on i.id = s.item_id left join livewell_private.known_types as t on t.name = i.data_type
        order by s.at
    ));
    with seen as materialized (
        select
            i.data_type, i.viewers, s.weight * i.viewers as minutes, coalesce(i.expires_at > p_now, false) as within,
            case when i.expires_at is null then 0
                else exp(-least(50, s.rate * greatest(0, extract(epoch from p_now - coalesce(i.fetched_at, i.expires_at - t.ttl))::double precision / 60)))
            end as unchanged,
            t.value_rule, case when i.expires_at is not null then greatest(0, extract(epoch from p_now - i.expires_at)::double precision / 60) end as overdue,
            case when i.expires_at > p_now then 0
                else greatest(0, extract(epoch from p_now - greatest(i.expires_at, i.watched_since))::double precision / 60) end as wait
        from unnest(v_ids, v_weights, v_rates) as s (item_id, weight, rate)
        join livewell_private.item as i on i.id = s.item_id and i.watched
        join livewell_private.known_types as t on t.name = i.data_type
    ),
    by_audience as (
        select s.*, a.audience,
            least(cardinality(v_steps), 1 + width_bucket(s.wait, v_steps) - (s.wait = any (v_steps))::integer) as wait_step,
            case when s.overdue is not null
                then least(cardinality(v_steps), 1 + width_bucket(s.overdue, v_steps) - (s.overdue = any (v_steps))::integer)
            end as overdue_step
        from seen as s
        join (values ('all', 2147483647), ('lone', 1)) as a (audience, most) on s.viewers <= a.most
    ),
    steps as (
        select g.data_type, g.audience, array_agg(g.waits order by g.step) as waits, array_agg(g.overdue order by g.step) as overdue
        from (
            select k.data_type, k.audience, n.step, coalesce(sum(b.minutes) filter (where b.wait_step = n.step), 0) as waits,
                coalesce(sum(b.minutes) filter (where b.overdue_step = n.step), 0) as overdue
            from (select distinct b.data_type, b.audience from by_audience as b) as k
            cross join generate_subscripts(v_steps, 1) as n (step)
            left join (
                select b.data_type, b.audience, b.wait_step, b.overdue_step, sum(b.minutes) as minutes from by_audience as b
                group by b.data_type, b.audience, b.wait_step, b.overdue_step
            ) as b on b.data_type = k.data_type and b.audience = k.audience and n.step in (b.wait_step, b.overdue_step)
            group by k.data_type, k.audience, n.step
        ) as g
        group by g.data_type, g.audience
    )
    insert into livewell_private.freshness_hour as h (hour, data_type, audience, viewer_minutes, within_ttl, fresh, ok, waits, overdue)
    select
        date_trunc('hour', p_now, 'UTC'), b.data_type, b.audience, sum(b.minutes), coalesce(sum(b.minutes) filter (where b.within), 0),
        sum(b.minutes * b.unchanged),
        sum(b.minutes * case when b.within then 1 when b.value_rule = 'contract' then 0 else b.unchanged end), s.waits, s.overdue
    from by_audience as b
    join steps as s on s.data_type = b.data_type and s.audience = b.audience
    group by b.data_type, b.audience, s.waits, s.overdue
    on conflict (hour, data_type, audience) do update
    set viewer_minutes = h.viewer_minutes + excluded.viewer_minutes, within_ttl = h.within_ttl + excluded.within_ttl,
        fresh = h.fresh + excluded.fresh, ok = h.ok + excluded.ok, waits = livewell_private.add_weights(h.waits, excluded.waits),
        overdue = livewell_private.add_weights(h.overdue, excluded.overdue);
    return coalesce(cardinality(v_ids), 0);
end $$;
