-- Gives dead letters another life with all their retries; one whose dedupe key is live again is answered, not forced in.
-- for: service
create or replace function livewell.retry_jobs(
    p_ids bigint[], p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, outcome text, live_job_id bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_retried bigint[];
    v_kinds text[];
begin
    perform livewell_private.require_primary();
    with dead as materialized (
        select j.* from livewell_private.job_failed as j where j.id = any (p_ids) order by j.dedupe_key, j.id for update
    ),
    alive as (
        insert into livewell_private.job_live (
            id, lane_id, kind, priority, due_at, attempt, retries, payload, category, dedupe_key, serial_key, endpoint,
            estimated_bytes, estimated_tokens, trace_context, created_at
        )
        select
            d.id, d.lane_id, d.kind, d.priority, p_now, d.attempt, d.retries, d.payload, d.category, d.dedupe_key,
            d.serial_key, d.endpoint, d.estimated_bytes, d.estimated_tokens, d.trace_context, d.created_at
        from dead as d
        on conflict (dedupe_key) where dedupe_key is not null do nothing
        returning id, kind
    ),
    buried as (
        delete from livewell_private.job_failed as j where j.id = any (array(select a.id from alive as a))
    ),
    tried as (
        insert into livewell_private.job_attempt (job_id, attempt, worker, started_at, ended_at, outcome, error, reason)
        select d.id, d.attempt, d.worker, d.started_at, d.finished_at, 'dead', d.error, d.reason
        from dead as d join alive as a on a.id = d.id
    )
    select array_agg(a.id), array_agg(distinct a.kind) into v_retried, v_kinds from alive as a;

    perform livewell_private.park_behind_serial_keys(v_retried);
    perform livewell_private.audit_job_changes(array['job_retried'], v_retried, p_reason, p_actor, p_now);
    if v_kinds is not null then
        perform livewell_private.wake_workers(v_kinds);
    end if;
    return query
    select i.id,
        case
            when i.id = any (coalesce(v_retried, '{}')) then 'retried'
            when d.id is null then 'not_dead'
            else 'duplicate'
        end,
        l.id
    from (select distinct u.id from unnest(p_ids) as u (id)) as i
    left join livewell_private.job_failed as d on d.id = i.id
    left join livewell_private.job_live as l on l.dedupe_key = d.dedupe_key;
end $$;
