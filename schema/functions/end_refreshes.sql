-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.end_refreshes(p_ended livewell.ended_refresh[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_gone_longest constant interval := livewell.setting_interval('freshness.gone_again_max');
    v_dead_longest constant interval := livewell.setting_interval('freshness.failed_again_max');
begin
    if exists (select from livewell.sample as s where s.item_id in (select e.item_id from unnest(p_ended) as e)) then
        perform livewell.learn_samples(p_ended, p_now);
    end if;
    with seen as materialized (
        select
            i.id, e.outcome, e.hash, e.bytes, e.reason, t.ttl, t.ttl_column is null and t.staleness = 'livewell.is_stale' as plain,
            e.outcome in ('fetched', 'unchanged') as good, i.fetched_at is not null as again,
            e.outcome = 'fetched' and (e.hash is null or e.hash is distinct from i.content_hash) as changed,
            greatest(0, extract(epoch from p_now - i.fetched_at))::double precision / 60 as minutes,
            coalesce(i.change_rate, r.type_rate) as rate, r.type_rate
        from unnest(p_ended) as e
        join livewell.item as i on i.id = e.item_id
        join livewell.data_type as t on t.name = i.data_type
        left join livewell.type_learning as y on y.data_type = i.data_type
        cross join lateral (select coalesce(y.change_rate, 60 / extract(epoch from t.ttl)::double precision) as type_rate) as r
        where e.outcome <> 'throttled'
    ),
    taught as materialized (
        select s.*, s.good and s.again as known, o.slope, o.information, y.slope as type_slope, y.information as type_information
        from seen as s
        cross join lateral (
            select case when s.changed then x.z * exp(-x.z) / (1 - exp(-x.z)) else -x.z end as slope,
                x.z * x.z * exp(-x.z) / (1 - exp(-x.z)) as information
            from (select least(greatest(s.rate * s.minutes, 0.000001), 30) as z) as x
        ) as o
        cross join lateral (
            select case when s.changed then x.z * exp(-x.z) / (1 - exp(-x.z)) else -x.z end as slope,
                x.z * x.z * exp(-x.z) / (1 - exp(-x.z)) as information
            from (select least(greatest(s.type_rate * s.minutes, 0.000001), 30) as z) as x
        ) as y
    ),
    kept as (
        update livewell.item as i
        set last_outcome = case t.outcome when 'dead' then 'failed' else t.outcome end, last_outcome_at = p_now,
            last_reason = case when not t.good then livewell.one_line(t.reason, 300) end,
            failed_refreshes = case
                when t.good then 0 when t.outcome in ('gone', 'dead') then i.failed_refreshes + 1 else i.failed_refreshes
            end,
            decision = case when t.outcome in ('gone', 'dead') then 'refresh_failed' else i.decision end,
            decided_at = case when t.outcome in ('gone', 'dead') then p_now else i.decided_at end,
            fetched_at = case when t.good then p_now else i.fetched_at end,
            expires_at = case when t.good then p_now + t.ttl else i.expires_at end,
            content_hash = case when t.good then coalesce(t.hash, i.content_hash) else i.content_hash end,
            fetches = i.fetches + t.known::integer, changes = i.changes + (t.known and t.changed)::integer,
            minutes_between = i.minutes_between + case when t.known then t.minutes else 0 end,
            rate_weight = case when t.known then least(i.rate_weight + t.information, 50) else i.rate_weight end,
            change_rate = case when t.known then t.rate * exp(greatest(-1.5, least(1.5,
                t.slope / (least(i.rate_weight + t.information, 50) + 0.3 * abs(t.slope))
            ))) else i.change_rate end,
            bytes_mean = case when t.good and t.changed
                then coalesce(i.bytes_mean + 0.3 * (t.bytes - i.bytes_mean), t.bytes, i.bytes_mean) else i.bytes_mean end,
            due_at = p_now + case
                when t.good and t.plain then t.ttl
                when t.good then interval '0'
                when t.outcome = 'gone'
                    then least(v_gone_longest, greatest(t.ttl, interval '1 hour') * power(2, least(i.failed_refreshes, 20)))
                when t.outcome = 'dead' then least(
                    v_dead_longest, greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')) * power(2, least(i.failed_refreshes, 20))
                )
                when t.outcome = 'cancelled' then greatest(interval '10 seconds', least(t.ttl, interval '5 minutes'))
                else least(t.ttl, interval '5 minutes')
            end
        from taught as t
        where i.id = t.id
        returning i.data_type, t.good, t.known, t.changed, t.minutes, t.bytes, t.type_slope, t.type_information, not t.again as new_key,
            t.outcome = 'gone' as gone
    )
    insert into livewell.learned (
        data_type, fetches, changes, minutes_between, slope, information, bytes, sizes, unchanged_bytes, unchanged_sizes,
        new_keys, new_found
    )
    select k.data_type, count(*) filter (where k.known), count(*) filter (where k.known and k.changed),
        coalesce(sum(k.minutes) filter (where k.known), 0), coalesce(sum(k.type_slope) filter (where k.known), 0),
        coalesce(sum(k.type_information) filter (where k.known), 0), sum(k.bytes) filter (where k.changed),
        count(k.bytes) filter (where k.changed), sum(k.bytes) filter (where k.good and not k.changed),
        count(k.bytes) filter (where k.good and not k.changed), count(*) filter (where k.new_key), count(*) filter (where k.new_key and k.good)
    from kept as k
    where k.good or k.new_key and k.gone
    group by k.data_type;
    -- Whoever it was for may have left while it was fetched.
    perform livewell.let_refreshes_go(array_agg(e.item_id), p_now)
    from unnest(p_ended) as e where e.outcome in ('failed', 'refused', 'throttled') having count(*) > 0;
end $function$;
