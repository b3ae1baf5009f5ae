-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_items(p_item_ids bigint[], p_priority integer, p_cause text, p_now timestamp with time zone)
 RETURNS TABLE(item_id bigint, decision text, due_at timestamp with time zone)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
#variable_conflict use_column
declare
    v_looks livewell.look[];
    v_decided_ids bigint[];
    v_decisions text[];
    v_due_at timestamptz[];
    v_priorities integer[];
begin
    v_looks := livewell.look_at_items(array(
        select i.id from livewell.item as i where i.id = any (p_item_ids) order by i.id for no key update skip locked
    ), p_now);
    v_looks := array(select l from unnest(v_looks) as l where not l.stale) || livewell.value_looks(v_looks, p_now);
    select array_agg(d.item_id), array_agg(d.decision), array_agg(d.due_at), array_agg(d.priority)
    into v_decided_ids, v_decisions, v_due_at, v_priorities
    from livewell.decide_items(v_looks, p_priority, p_now) as d;
    if 'queued' = any (v_decisions) then
        perform livewell.enqueue_jobs(r.jobs, 'raise_priority', p_now)
        from (
            select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'kind', 'refresh.' || l.data_type, 'endpoint', t.endpoint, 'priority', d.priority,
                'dedupe_key', 'refresh/' || l.data_type || '/' || l.key,
                'serial_key', split_part(t.endpoint, '/', 1) || '/' || l.key,
                'estimated_bytes', case when s.endpoint is null then t.expected_bytes end,
                'payload', jsonb_build_object(
                    'type', l.data_type, 'key', l.key, 'item', l.item_id,
                    'cause', coalesce(p_cause, case when l.newest is null and l.error is null then 'missing' else 'stale' end)
                )
            ))) as jobs
            from unnest(v_decided_ids, v_decisions, v_priorities) as d (item_id, decision, priority)
            join unnest(v_looks) as l on l.item_id = d.item_id
            join livewell.data_type as t on t.name = l.data_type
            left join livewell.estimate as s on s.endpoint = t.endpoint and s.subject = 'refresh.' || l.data_type
            where d.decision = 'queued'
        ) as r;
    end if;
    update livewell.item as i
    set due_at = d.due_at, decision = d.decision, decided_at = p_now, score = l.score,
        expires_at = case when l.error is null then l.newest + l.ttl else i.expires_at end,
        failed_check_at = case when l.error is not null and d.decision = 'queued' then p_now else i.failed_check_at end
    from unnest(v_decided_ids, v_decisions, v_due_at) as d (item_id, decision, due_at)
    join unnest(v_looks) as l on l.item_id = d.item_id
    where i.id = d.item_id;
    return query select d.* from unnest(v_decided_ids, v_decisions, v_due_at) as d (item_id, decision, due_at);
end $function$;
