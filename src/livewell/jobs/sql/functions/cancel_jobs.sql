-- Cancels pending jobs at once; a running one is told, and decides itself how to stop.
-- for: service
create or replace function livewell.cancel_jobs(
    p_ids bigint[], p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_reason text := coalesce(nullif(p_reason, ''), 'cancelled by ' || p_actor);
    v_ids bigint[];
    v_outcomes text[];
    v_workers text[];
begin
    perform livewell_private.require_primary();
    with leased as materialized (
        select j.id, j.state, j.worker from livewell_private.job_live as j where j.id = any (p_ids) order by j.id for update
    ),
    told as (
        update livewell_private.job_live as j set cancel_reason = v_reason
        where j.id = any (array(select h.id from leased as h where h.state = 'processing'))
    )
    select array_agg(h.id), array_agg(case h.state when 'pending' then 'cancelled' else 'told' end),
        array_agg(distinct h.worker) filter (where h.state = 'processing')
    into v_ids, v_outcomes, v_workers
    from leased as h;
    if 'cancelled' = any (v_outcomes) then
        perform livewell_private.drop_jobs(v_ids, v_reason, p_now);
    end if;
    perform livewell_private.notify('livewell_cancel', w.worker) from unnest(v_workers) as w (worker);
    perform livewell_private.audit_job_changes(
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
        select j.id from livewell_private.job as j where o.id is null and j.id = i.id limit 1
    ) as f on true;
end $$;
