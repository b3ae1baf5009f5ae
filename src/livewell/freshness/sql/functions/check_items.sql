-- Checks items now: assesses them, decides, queues what is stale and worth it, and says of each what was decided and when it is
-- checked again. Items that somebody else is checking are left to them, and so is a refresh that somebody is queueing in a
-- transaction that stays open: it waits for the next check. Without a priority it is that of their viewers. Who asks, for each item,
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
    v_busy bigint[];
    v_asked bigint[];
    v_askers text[];
    v_waiting bigint[];
begin
    select array_agg(a.item_id order by a.at), array_agg(a.asker order by a.at), array_agg(a.waiting order by a.at)
    into v_asked, v_askers, v_waiting
    from livewell_private.waiting_asks(p_item_ids, p_askers) as a;
    v_decided := livewell_private.decide_items(livewell_private.value_assessments(livewell_private.assess_items(array(
        select i.id from livewell_private.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    ), p_now), p_now), p_priority, p_now, v_asked, v_askers, v_waiting);
    v_busy := livewell_private.queue_refreshes(array(
        select row (
            d.item_id, d.priority, coalesce(p_cause, case when d.newest is null and d.error is null then 'missing' else 'stale' end),
            a.asker, d.newest is null
        )::livewell_private.wanted_refresh
        from unnest(v_decided) as d
        left join unnest(v_asked, v_askers) as a (item_id, asker) on a.item_id = d.item_id
        where d.decision = 'queued'
    ), p_now);
    update livewell_private.item as i
    set due_at = case when d.item_id = any (v_busy) then p_now + interval '10 seconds' else d.due_at end,
        decision = case when d.item_id = any (v_busy) then 'waiting' else d.decision end, decided_at = p_now, score = d.score,
        expires_at = case when d.error is null then d.newest + d.ttl else i.expires_at end,
        failed_check_at = case when d.error is not null and d.decision = 'queued' then p_now else i.failed_check_at end
    from unnest(v_decided) as d
    where i.id = d.item_id;
    return query select d.item_id, d.decision, d.due_at from unnest(v_decided) as d;
end $$;
