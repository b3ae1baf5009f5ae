-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.acknowledge_jobs(p_ids bigint[], p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(job_id bigint, outcome text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_ids bigint[];
begin
    perform livewell.require_primary();
    with seen as (
        update livewell.job_failed as j set acknowledged_at = p_now, acknowledged_by = p_actor
        where j.id = any (p_ids) and j.acknowledged_at is null
        returning j.id
    )
    select array_agg(s.id) into v_ids from seen as s;
    perform livewell.audit_job_changes(array['job_acknowledged'], v_ids, p_reason, p_actor, p_now);
    return query
    select i.id,
        case
            when i.id = any (coalesce(v_ids, '{}')) then 'acknowledged'
            when exists (select from livewell.job_failed as j where j.id = i.id) then 'already_acknowledged'
            else 'not_dead'
        end
    from (select distinct u.id from unnest(p_ids) as u (id)) as i;
end $function$;

grant execute on function livewell.acknowledge_jobs(bigint[],text,text,timestamp with time zone) to livewell_service;
