-- Looks at items now: judges them, decides, queues what is stale and worth it, and says of each what was decided and when it is
-- looked at again. Items that somebody else is looking at are left to them, and so is a refresh that somebody is queueing in a
-- transaction that stays open: it waits for the next look. Without a priority it is that of their viewers. Who asks, for each item,
-- has a share of what waits.
-- for: internal
create or replace function livewell_private.check_items(
    p_item_ids bigint[], p_priority integer, p_cause text, p_now timestamptz, p_askers text[] default null
) returns table (item_id bigint, decision text, due_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_decided livewell_private.decided_item[];
    v_held bigint[];
    v_asked bigint[];
    v_askers text[];
    v_waiting bigint[];
begin
    select array_agg(a.item_id order by a.at), array_agg(a.asker order by a.at), array_agg(a.waiting order by a.at)
    into v_asked, v_askers, v_waiting
    from livewell_private.waiting_asks(p_item_ids, p_askers) as a;
    v_decided := livewell_private.decide_items(livewell_private.value_looks(livewell_private.look_at_items(array(
        select i.id from livewell_private.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    ), p_now), p_now), p_priority, p_now, v_asked, v_askers, v_waiting);
    select livewell_private.queue_refreshes(r.jobs, p_now) into v_held
    from (
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'kind', 'refresh.' || d.data_type, 'endpoint', d.endpoint, 'priority', d.priority,
            'dedupe_key', 'refresh/' || d.data_type || '/' || d.key,
            'serial_key', split_part(d.endpoint, '/', 1) || '/' || d.key,
            'estimated_bytes', b.bytes,
            'payload', jsonb_build_object(
                'type', d.data_type, 'key', d.key, 'item', d.item_id,
                'cause', coalesce(p_cause, case when d.newest is null and d.error is null then 'missing' else 'stale' end),
                'asked_by', a.asker, 'new', case when i.fetched_at is null and d.newest is null then true end
            )
        ))) as jobs
        from unnest(v_decided) as d
        join livewell_private.item as i on i.id = d.item_id
        join livewell_private.data_type as t on t.name = d.data_type
        join livewell_private.endpoint as e on e.name = d.endpoint
        left join livewell_private.type_learning as y on y.data_type = d.data_type
        left join unnest(v_asked, v_askers) as a (item_id, asker) on a.item_id = d.item_id
        -- What a whole answer takes, and some more: the estimate of the kind is drawn down by answers that say "unchanged".
        cross join lateral (
            select least(e.max_bytes, ceil(coalesce(1.25 * coalesce(i.bytes_mean, y.bytes_mean), t.expected_bytes)))::bigint as bytes
        ) as b
        -- A refresh that runs is left alone: whoever ends it locks it first and its item after, the other way round.
        where d.decision = 'queued' and (
            select j.state from livewell_private.job_live as j where j.dedupe_key = 'refresh/' || d.data_type || '/' || d.key limit 1
        ) is distinct from 'processing'
    ) as r
    where r.jobs is not null;
    update livewell_private.item as i
    set due_at = case when d.item_id = any (v_held) then p_now + interval '10 seconds' else d.due_at end,
        decision = case when d.item_id = any (v_held) then 'waiting' else d.decision end, decided_at = p_now, score = d.score,
        expires_at = case when d.error is null then d.newest + d.ttl else i.expires_at end,
        failed_check_at = case when d.error is not null and d.decision = 'queued' then p_now else i.failed_check_at end
    from unnest(v_decided) as d
    where i.id = d.item_id;
    return query select d.item_id, d.decision, d.due_at from unnest(v_decided) as d;
end $$;
