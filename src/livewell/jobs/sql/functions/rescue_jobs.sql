-- Takes back jobs whose lease ran out: again with jitter of its own each, or a dead letter when its retries are used up.
-- for: service
create or replace function livewell.rescue_jobs(
    p_limit integer default 500, p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, kind text, worker text, state text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_jitter interval := livewell.setting_interval('worker.reclaim_jitter_max');
    v_serial_keys text[];
    v_kinds text[];
    v_rescued livewell_private.rescued_job[];
    v_spent livewell_private.spent_call[];
begin
    perform livewell_private.require_primary();
    -- State and expiry are checked on the locked row: what a heartbeat has just renewed or a finish just ended is left alone.
    with expired as materialized (
        select j.id, j.kind, j.worker, j.serial_key, j.attempt, j.started_at, j.lease_until, j.endpoint, j.api_key, j.reserved_bytes,
            j.reserved_tokens, j.is_passenger,
            case
                when j.cancel_reason is not null then 'cancelled'
                when j.failures >= j.retries then 'failed'
                else 'pending'
            end as next_state,
            random() * v_jitter as wait
        from livewell_private.job_live as j
        where j.lease_token is not null and j.lease_until < p_now
        order by j.lease_until
        limit p_limit
        for update skip locked
    ),
    gone as (
        delete from livewell_private.job_live as j
        where j.id = any (array(select e.id from expired as e where e.next_state <> 'pending'))
        returning j.*
    ),
    ended as materialized (
        select
            g.id, e.next_state, g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures + 1 as failures, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, g.worker, g.started_at,
            g.cancel_reason, g.trace_context, g.created_at,
            jsonb_build_object('type', 'LeaseExpired', 'message', format('worker %s went silent', g.worker)) as error,
            coalesce(g.cancel_reason, format('lease expired on attempt %s: worker %s went silent', g.attempt, g.worker)) as reason
        from gone as g join expired as e on e.id = g.id
    ),
    cancelled as (
        insert into livewell_private.job_done (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, error, reason
        )
        select
            e.id, e.next_state, e.lane_id, e.kind, e.priority, e.due_at, e.attempt, e.failures, e.retries, e.payload, e.category,
            e.dedupe_key, e.serial_key, e.endpoint, e.estimated_bytes, e.estimated_tokens, e.worker, e.started_at, e.cancel_reason,
            e.trace_context, e.created_at, p_now, e.error, e.reason
        from ended as e where e.next_state = 'cancelled'
    ),
    -- By its own name, so that whoever waits for dead letters is told.
    dead as (
        insert into livewell_private.job_failed (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, worker, started_at, cancel_reason, trace_context, created_at,
            finished_at, error, reason
        )
        select
            e.id, e.next_state, e.lane_id, e.kind, e.priority, e.due_at, e.attempt, e.failures, e.retries, e.payload, e.category,
            e.dedupe_key, e.serial_key, e.endpoint, e.estimated_bytes, e.estimated_tokens, e.worker, e.started_at, e.cancel_reason,
            e.trace_context, e.created_at, p_now, e.error, e.reason
        from ended as e where e.next_state = 'failed'
    ),
    again as (
        update livewell_private.job_live as j
        set state = 'pending', lease_token = null, lease_until = null, worker = null, started_at = null, reserved_bytes = null,
            reserved_tokens = null, api_key = null, bundle = null, is_passenger = null, due_at = p_now + e.wait,
            waiting_for = case when e.wait > interval '0' then 'due' end, failures = j.failures + 1
        from expired as e
        where e.next_state = 'pending' and j.id = e.id
    ),
    tried as (
        insert into livewell_private.job_attempt (job_id, attempt, worker, started_at, ended_at, outcome, reason)
        select e.id, e.attempt, e.worker, e.started_at, p_now, 'rescued', 'lease expired at ' || e.lease_until
        from expired as e where e.next_state = 'pending'
    )
    select
        array_agg(row (e.id, e.kind, e.worker, e.next_state)::livewell_private.rescued_job),
        array_agg(distinct e.serial_key) filter (where e.serial_key is not null),
        array_agg(distinct e.kind),
        array_agg(row (
            e.endpoint, e.api_key, e.kind, e.started_at, e.reserved_bytes, e.reserved_tokens, null, null, 'rescued', null, e.is_passenger
        )::livewell_private.spent_call) filter (where e.reserved_tokens is not null)
    into v_rescued, v_serial_keys, v_kinds, v_spent
    from expired as e;
    if v_spent is not null then
        perform livewell_private.settle_calls(v_spent, p_now);
    end if;

    perform livewell_private.after_jobs_left(v_serial_keys, v_kinds);
    return query select r.job_id, r.kind, r.worker, r.state from unnest(v_rescued) as r;
end $$;
