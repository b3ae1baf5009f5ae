-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.end_jobs(p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_now timestamp with time zone)
 RETURNS livewell.ended_jobs
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
    v_ended livewell.ended_jobs;
begin
    with input as materialized (
        select i.id, i.token, case i.outcome when 'dead' then 'failed' else i.outcome end as next_state,
            p_details -> (i.ordinality - 1)::integer as detail
        from unnest(p_ids, p_tokens, p_outcomes) with ordinality as i (id, token, outcome)
        where i.outcome in ('completed', 'cancelled', 'dead')
        order by i.id
    ),
    gone as (
        delete from livewell.job_live as j using input as i
        where j.id = i.id and j.lease_token = i.token
        returning j.*, i.next_state, i.detail
    ),
    done as (
        insert into livewell.job_done (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, result, actual_bytes, error, reason
        )
        select
            g.id, g.next_state, g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, g.worker,
            g.started_at, g.cancel_reason, g.trace_context, g.created_at, p_now, g.detail -> 'result',
            (g.detail ->> 'actual_bytes')::bigint, g.detail -> 'error', coalesce(g.detail ->> 'reason', g.cancel_reason)
        from gone as g where g.next_state <> 'failed'
    ),
    dead as (
        insert into livewell.job_failed (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, actual_bytes, error, reason
        )
        select
            g.id, 'failed', g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures + 1, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, g.worker,
            g.started_at, g.cancel_reason, g.trace_context, g.created_at, p_now, (g.detail ->> 'actual_bytes')::bigint,
            g.detail -> 'error', coalesce(g.detail ->> 'reason', g.detail #>> '{error,message}', 'no reason given')
        from gone as g where g.next_state = 'failed'
    )
    select array_agg(g.id), array_agg(g.next_state), array_agg(g.serial_key) filter (where g.serial_key is not null)
    into v_ended.ids, v_ended.states, v_ended.serial_keys
    from gone as g;
    return v_ended;
end $function$;
