-- Moves jobs whose outcome ends them out of the live partition; rows are found by primary key, and the token decides.
-- Answers with the kinds that are below their caps again, and what was spent at endpoints, too.
-- for: internal
create or replace function livewell_private.end_jobs(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_ended livewell_private.ended_jobs;
    v_dead livewell_private.ended_jobs;
    v_capped text[];
    v_brief text[];
begin
    select array_agg(k.kind) filter (where k.concurrency is not null), array_agg(k.kind) filter (where k.kept_briefly)
    into v_capped, v_brief
    from livewell_private.job_kind as k where k.concurrency is not null or k.kept_briefly;
    with gone as (
        delete from livewell_private.job_live as j using (
            select u.id, u.token, coalesce(u.outcome, 'completed') as outcome,
                p_details -> (u.ordinality - 1)::integer as detail
            from unnest(p_ids, p_tokens, p_outcomes) with ordinality as u (id, token, outcome)
            where u.outcome is null or u.outcome in ('completed', 'cancelled')
            order by u.id
        ) as i
        where j.id = i.id and j.lease_token = i.token
        returning j.id, j.lane_id, j.kind, j.priority, j.due_at, j.attempt, j.failures, j.retries, j.payload, j.category,
            j.dedupe_key, j.serial_key, j.endpoint, j.estimated_bytes, j.estimated_tokens, j.worker, j.started_at,
            j.cancel_reason, j.trace_context, j.created_at, j.reserved_bytes, j.reserved_tokens, j.api_key, j.is_passenger, i.outcome,
            i.detail
    ),
    done as (
        insert into livewell_private.job_ended (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, result, actual_bytes, error, reason, kept_briefly
        )
        select
            g.id, g.outcome, g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, g.worker,
            g.started_at, g.cancel_reason, g.trace_context, g.created_at, p_now, g.detail -> 'result',
            (g.detail ->> 'actual_bytes')::bigint, g.detail -> 'error', coalesce(g.detail ->> 'reason', g.cancel_reason),
            case when g.outcome = 'completed' and g.kind = any (v_brief) then true end
        from gone as g
    )
    select array_agg(g.id), array_agg(g.outcome), array_agg(g.serial_key) filter (where g.serial_key is not null),
        array_agg(distinct g.kind) filter (where g.kind = any (v_capped) or g.reserved_tokens is not null),
        array_agg(row (
            g.endpoint, g.api_key, g.kind, g.started_at, g.reserved_bytes, g.reserved_tokens, (g.detail ->> 'actual_bytes')::bigint,
            (g.detail ->> 'actual_tokens')::integer, g.outcome, g.detail -> 'rate', g.is_passenger
        )::livewell_private.spent_call) filter (where g.reserved_tokens is not null)
    into v_ended.ids, v_ended.states, v_ended.serial_keys, v_ended.kinds, v_ended.spent
    from gone as g;
    if 'dead' = any (p_outcomes) then
        v_dead := livewell_private.bury_jobs(p_ids, p_tokens, p_outcomes, p_details, v_capped, p_now);
        v_ended.ids := v_ended.ids || v_dead.ids;
        v_ended.states := v_ended.states || v_dead.states;
        v_ended.serial_keys := v_ended.serial_keys || v_dead.serial_keys;
        v_ended.kinds := v_ended.kinds || v_dead.kinds;
        v_ended.spent := v_ended.spent || v_dead.spent;
    end if;
    return v_ended;
end $$;
