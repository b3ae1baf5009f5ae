-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_items(p_item_ids bigint[], p_priority integer, p_cause text, p_now timestamp with time zone, p_askers text[] DEFAULT NULL::text[])
 RETURNS TABLE(item_id bigint, decision text, due_at timestamp with time zone)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_decided livewell.decided_item[];
    v_asked bigint[];
    v_askers text[];
    v_waiting bigint[];
    v_raised bigint[];
    v_raisers text[];
begin
    select array_agg(a.item_id order by a.at), array_agg(a.asker order by a.at), array_agg(a.waiting order by a.at)
    into v_asked, v_askers, v_waiting
    from livewell.waiting_asks(p_item_ids, p_askers) as a;
    v_decided := livewell.decide_items(livewell.value_looks(livewell.look_at_items(array(
        select i.id from livewell.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    ), p_now), p_now), p_priority, p_now, v_asked, v_askers, v_waiting);
    select array_agg(q.job_id), array_agg(q.asker) into v_raised, v_raisers
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
        join livewell.item as i on i.id = d.item_id
        join livewell.data_type as t on t.name = d.data_type
        join livewell.endpoint as e on e.name = d.endpoint
        left join livewell.type_learning as y on y.data_type = d.data_type
        left join unnest(v_asked, v_askers) as a (item_id, asker) on a.item_id = d.item_id
        -- What a whole answer takes, and some more: the estimate of the kind is drawn down by answers that say "unchanged".
        cross join lateral (
            select least(e.max_bytes, ceil(coalesce(1.25 * coalesce(i.bytes_mean, y.bytes_mean), t.expected_bytes)))::bigint as bytes
        ) as b
        -- A refresh that runs is left alone: whoever ends it locks it first and its item after, the other way round.
        where d.decision = 'queued' and (
            select j.state from livewell.job_live as j where j.dedupe_key = 'refresh/' || d.data_type || '/' || d.key limit 1
        ) is distinct from 'processing'
    ) as r
    cross join lateral (
        select e.job_id, r.jobs -> (e.job_position - 1) -> 'payload' ->> 'asked_by' as asker
        from livewell.enqueue_jobs(r.jobs, 'raise_priority', p_now) as e
        where e.outcome = 'raised'
    ) as q
    where r.jobs is not null;
    -- One that waited already is now ahead for whoever asked: it is theirs.
    if array_remove(v_raisers, null) <> '{}' then
        update livewell.job_live as j set payload = j.payload || jsonb_build_object('asked_by', q.asker)
        from unnest(v_raised, v_raisers) as q (job_id, asker)
        where j.id = q.job_id and q.asker is not null;
    end if;
    update livewell.item as i
    set due_at = d.due_at, decision = d.decision, decided_at = p_now, score = d.score,
        expires_at = case when d.error is null then d.newest + d.ttl else i.expires_at end,
        failed_check_at = case when d.error is not null and d.decision = 'queued' then p_now else i.failed_check_at end
    from unnest(v_decided) as d
    where i.id = d.item_id;
    return query select d.item_id, d.decision, d.due_at from unnest(v_decided) as d;
end $function$;
