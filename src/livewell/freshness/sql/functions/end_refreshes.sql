-- Here a refresh's end reaches its item, whatever the outcome; the caller has locked the items. `fetched` and `unchanged` teach how often
-- the content changes and how many bytes it takes: the rate of change moves by the slope of the likelihood of what was seen, less the
-- more is known already, and the first fetch of an item says nothing of change. What was not good leaves its reason, and the item is due
-- again: `refused` and `failed` soon, because the job is tried again; `gone` (the provider does not have it) and `dead` (failed for good)
-- later each time, each up to a bound of its own; `cancelled` not at once. A type whose rows have their own TTL, or that judges by a
-- function of its own, is checked again at once. `throttled` tells the item nothing. What goes on although its viewers have left is let go.
-- `fetched` is other content than was there, and has a new version; so has what is there before it had one. Whether the source has changed
-- is another question, answered by the hash: content that the application had overwritten comes back, and the source is as it was.
-- Watched items are told to whoever listens.
-- for: internal
create or replace function livewell_private.end_refreshes(p_ended livewell_private.ended_refresh[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    v_gone_longest constant interval := livewell.setting_interval('freshness.gone_again_max');
    v_dead_longest constant interval := livewell.setting_interval('freshness.failed_again_max');
    v_told record;
begin
    if exists (select from livewell_private.sample as s where s.item_id in (select e.item_id from unnest(p_ended) as e)) then
        perform livewell_private.learn_samples(p_ended, p_now);
    end if;
    with seen as materialized (
        select
            i.id, e.outcome, e.hash, e.bytes, e.reason, t.ttl, t.ttl_column is null and t.staleness = 'livewell.is_stale' as plain,
            e.outcome in ('fetched', 'unchanged') as good, i.fetched_at is not null as again,
            e.outcome = 'fetched' and (e.hash is null or e.hash is distinct from i.content_hash) as changed,
            e.outcome = 'fetched' or e.outcome = 'unchanged' and i.version = 0 as is_new,
            greatest(0, extract(epoch from p_now - i.fetched_at))::double precision / 60 as minutes,
            coalesce(i.change_rate, r.type_rate) as rate, r.type_rate
        from unnest(p_ended) as e
        join livewell_private.item as i on i.id = e.item_id
        join livewell_private.known_types as t on t.name = i.data_type
        left join livewell_private.type_learning as y on y.data_type = i.data_type
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
        update livewell_private.item as i
        set last_outcome = case t.outcome when 'dead' then 'failed' else t.outcome end, last_outcome_at = p_now,
            last_reason = case when not t.good then livewell_private.one_line(t.reason, 300) end,
            failed_refreshes = case
                when t.good then 0 when t.outcome in ('gone', 'dead') then i.failed_refreshes + 1 else i.failed_refreshes
            end,
            decision = case when t.outcome in ('gone', 'dead') then 'refresh_failed' else i.decision end,
            decided_at = case when t.outcome in ('gone', 'dead') then p_now else i.decided_at end,
            fetched_at = case when t.good then p_now else i.fetched_at end,
            expires_at = case when t.good then p_now + t.ttl else i.expires_at end,
            content_hash = case when t.good then coalesce(t.hash, i.content_hash) else i.content_hash end,
            version = case when t.is_new then livewell_private.next_version(i.version) else i.version end,
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
        returning i.id, i.version, i.viewers > 0 as watched, i.data_type, t.good, t.known, t.changed, t.minutes, t.bytes, t.type_slope, t.type_information, not t.again as new_key,
            t.outcome = 'gone' as gone
    ),
    learned as (
        insert into livewell_private.learned (
            data_type, fetches, changes, minutes_between, slope, information, bytes, sizes, unchanged_bytes, unchanged_sizes,
            new_keys, new_found, refreshes
        )
        select k.data_type, count(*) filter (where k.known), count(*) filter (where k.known and k.changed),
            coalesce(sum(k.minutes) filter (where k.known), 0), coalesce(sum(k.type_slope) filter (where k.known), 0),
            coalesce(sum(k.type_information) filter (where k.known), 0), sum(k.bytes) filter (where k.changed),
            count(k.bytes) filter (where k.changed), sum(k.bytes) filter (where k.good and not k.changed),
            count(k.bytes) filter (where k.good and not k.changed), count(*) filter (where k.new_key), count(*) filter (where k.new_key and k.good), count(*)
        from kept as k
        where k.good or k.gone
        group by k.data_type
    )
    select array_agg(k.id order by k.id) as ids, array_agg(k.version order by k.id) as versions into v_told
    from kept as k where k.watched and (k.good or k.gone);
    if v_told.ids is not null then
        perform livewell_private.tell_items(v_told.ids, v_told.versions);
    end if;
    perform livewell_private.note_outcomes(p_ended, p_now);
    -- Whoever it was for may have left while it was fetched.
    perform livewell_private.let_refreshes_go(array_agg(e.item_id), p_now)
    from unnest(p_ended) as e where e.outcome in ('failed', 'refused', 'throttled') having count(*) > 0;
end $$;
