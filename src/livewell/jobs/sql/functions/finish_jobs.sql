-- Ends attempts, a mixed batch in one call: only the holder of the live lease can, and the token alone decides that.
-- Without outcomes all are completed. What they spent at endpoints is settled with it. Nobody's open transaction is waited for: a job
-- whose row somebody else has is answered `busy`, keeps its lease, and is finished later.
-- for: service
create or replace function livewell.finish_jobs(
    p_ids bigint[],
    p_tokens uuid[],
    p_outcomes text[] default null,
    p_details jsonb default null,
    p_now timestamptz default clock_timestamp()
) returns table (job_id bigint, state text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_ended livewell_private.ended_jobs;
    v_mixed boolean;
begin
    perform livewell_private.require_primary();
    v_mixed := livewell_private.check_outcomes(p_ids, p_tokens, p_outcomes, p_details);
    v_ended := livewell_private.end_attempts(p_ids, p_tokens, p_outcomes, p_details, v_mixed, p_now);
    if v_ended.spent is not null then
        perform livewell_private.settle_jobs(v_ended.spent, p_now);
    end if;
    perform livewell_private.after_jobs_left(v_ended.serial_keys, v_ended.kinds);
    if not v_mixed and cardinality(v_ended.ids) = cardinality(p_ids) and 'busy' <> all (v_ended.states) then
        return query select i.id, 'completed' from unnest(p_ids) as i (id);
        return;
    end if;
    perform livewell_private.refuse_repeated_jobs(p_ids);
    return query
    select i.id, coalesce(e.next_state, 'lost')
    from unnest(p_ids) as i (id)
    left join unnest(v_ended.ids, v_ended.states) as e (id, next_state) on e.id = i.id;
end $$;
