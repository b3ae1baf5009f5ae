-- Marks dead letters as seen by a person; only then may retention drop them.
-- for: service
create or replace function livewell.acknowledge_jobs(
    p_ids bigint[], p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_ids bigint[];
begin
    perform livewell_private.require_primary();
    with seen as (
        update livewell_private.job_failed as j set acknowledged_at = p_now, acknowledged_by = p_actor
        where j.id = any (p_ids) and j.acknowledged_at is null
        returning j.id
    )
    select array_agg(s.id) into v_ids from seen as s;
    perform livewell_private.audit_job_changes(array['job_acknowledged'], v_ids, p_reason, p_actor, p_now);
    return query
    select i.id,
        case
            when i.id = any (coalesce(v_ids, '{}')) then 'acknowledged'
            when exists (select from livewell_private.job_failed as j where j.id = i.id) then 'already_acknowledged'
            else 'not_dead'
        end
    from (select distinct u.id from unnest(p_ids) as u (id)) as i;
end $$;
