-- Cancels pending jobs at once; a running one is told, and decides itself how to stop.
-- for: service
create or replace function livewell.cancel_jobs(
    p_ids bigint[], p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, outcome text)
language plpgsql security definer
set search_path = '' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_reason text := coalesce(nullif(p_reason, ''), 'cancelled by ' || p_actor);
    v_ids bigint[];
    v_outcomes text[];
    v_workers text[];
    v_serial_keys text[];
begin
    perform livewell.require_primary();
    with held as materialized (
        select j.id, j.state, j.worker, j.serial_key from livewell.job_live as j where j.id = any (p_ids) order by j.id for update
    ),
    gone as (
        delete from livewell.job_live as j
        where j.id = any (array(select h.id from held as h where h.state = 'pending'))
        returning j.*
    ),
    kept as (
        insert into livewell.job_done (
            id, state, lane_id, kind, priority, due_at, attempt, failures, retries, payload, category, dedupe_key, serial_key,
            endpoint, estimated_bytes, estimated_tokens, cancel_reason, trace_context, created_at, finished_at, reason
        )
        select
            g.id, 'cancelled', g.lane_id, g.kind, g.priority, g.due_at, g.attempt, g.failures, g.retries, g.payload,
            g.category, g.dedupe_key, g.serial_key, g.endpoint, g.estimated_bytes, g.estimated_tokens, v_reason,
            g.trace_context, g.created_at, p_now, v_reason
        from gone as g
    ),
    told as (
        update livewell.job_live as j set cancel_reason = v_reason
        where j.id = any (array(select h.id from held as h where h.state = 'processing'))
    )
    select array_agg(h.id), array_agg(case h.state when 'pending' then 'cancelled' else 'told' end),
        array_agg(distinct h.worker) filter (where h.state = 'processing'),
        array_agg(distinct h.serial_key) filter (
            where h.state = 'pending' and h.serial_key is not null and not exists (
                select from livewell.job_live as r where r.serial_key = h.serial_key and r.state = 'processing'
            )
        )
    into v_ids, v_outcomes, v_workers, v_serial_keys
    from held as h;

    if v_serial_keys is not null then
        perform livewell.after_jobs_left(v_serial_keys, null);
    end if;
    perform pg_notify('livewell_cancel', w.worker) from unnest(v_workers) as w (worker);
    perform livewell.audit_job_changes(
        array(
            select case o.outcome when 'told' then 'job_cancel_requested' else 'job_cancelled' end
            from unnest(v_outcomes) with ordinality as o (outcome) order by o.ordinality
        ), v_ids, v_reason, p_actor, p_now
    );
    return query
    select i.id, coalesce(o.outcome, case when f.id is null then 'unknown' else 'finished' end)
    from (select distinct u.id from unnest(p_ids) as u (id)) as i
    left join unnest(v_ids, v_outcomes) as o (id, outcome) on o.id = i.id
    left join lateral (
        select j.id from livewell.job as j where o.id is null and j.id = i.id limit 1
    ) as f on true;
end $$;
