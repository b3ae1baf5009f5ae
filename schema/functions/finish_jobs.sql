-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.finish_jobs(p_ids bigint[], p_tokens uuid[], p_outcomes text[] DEFAULT NULL::text[], p_details jsonb DEFAULT NULL::jsonb, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(job_id bigint, state text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_ended livewell.ended_jobs;
    v_mixed boolean;
begin
    perform livewell.require_primary();
    v_mixed := livewell.check_outcomes(p_ids, p_tokens, p_outcomes, p_details);
    v_ended := livewell.end_attempts(p_ids, p_tokens, p_outcomes, p_details, v_mixed, p_now);
    if v_ended.spent is not null then
        perform livewell.settle_jobs(v_ended.spent, p_now);
    end if;
    perform livewell.after_jobs_left(v_ended.serial_keys, v_ended.kinds);
    if not v_mixed and cardinality(v_ended.ids) = cardinality(p_ids) and 'busy' <> all (v_ended.states) then
        return query select i.id, 'completed' from unnest(p_ids) as i (id);
        return;
    end if;
    perform livewell.refuse_repeated_jobs(p_ids);
    return query
    select i.id, coalesce(e.next_state, 'lost')
    from unnest(p_ids) as i (id)
    left join unnest(v_ended.ids, v_ended.states) as e (id, next_state) on e.id = i.id;
end $function$;

grant execute on function livewell.finish_jobs(bigint[],uuid[],text[],jsonb,timestamp with time zone) to livewell_service;
