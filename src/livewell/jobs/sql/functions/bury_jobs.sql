-- Moves jobs that are dead to the dead letters; as end_jobs does with those that are done.
-- for: internal
create or replace function livewell_private.bury_jobs(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_capped text[], p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_dead livewell_private.ended_jobs;
begin
    with gone as (
        delete from livewell_private.job_live as j using (
            select u.id, u.token, p_details -> (u.ordinality - 1)::integer as detail
            from unnest(p_ids, p_tokens, p_outcomes) with ordinality as u (id, token, outcome)
            where u.outcome = 'dead'
            order by u.id
        ) as i
        where j.id = i.id and j.lease_token = i.token
        returning j.*, i.detail
    ),
    dead as (
        insert into livewell_private.job_failed (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, actual_bytes, error, reason
        )
        select
            g.id, 'failed', g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures + 1, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, g.worker,
            g.started_at, g.cancel_reason, g.trace_context, g.created_at, p_now, (g.detail ->> 'actual_bytes')::bigint,
            g.detail -> 'error', coalesce(g.detail ->> 'reason', g.detail #>> '{error,message}', 'no reason given')
        from gone as g
    )
    select array_agg(g.id), array_agg('failed'::text), array_agg(g.serial_key) filter (where g.serial_key is not null),
        array_agg(distinct g.kind) filter (where g.kind = any (p_capped) or g.reserved_tokens is not null),
        array_agg(row (
            g.endpoint, g.api_key, g.kind, g.started_at, g.reserved_bytes, g.reserved_tokens, (g.detail ->> 'actual_bytes')::bigint,
            (g.detail ->> 'actual_tokens')::integer, case when g.detail ->> 'answered' = 'true' then 'answered' else 'dead' end,
            g.detail -> 'rate', g.is_passenger
        )::livewell_private.spent_call) filter (where g.reserved_tokens is not null)
    into v_dead.ids, v_dead.states, v_dead.serial_keys, v_dead.kinds, v_dead.spent
    from gone as g;
    return v_dead;
end $$;
