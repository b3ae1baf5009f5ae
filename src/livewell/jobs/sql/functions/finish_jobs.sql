-- Ends attempts, a mixed batch in one call: only the holder of the live lease can, and the token alone decides that.
-- Without outcomes all are completed. What they spent at endpoints is settled with it.
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
    v_ended livewell.ended_jobs;
    v_again livewell.ended_jobs;
begin
    perform livewell.require_primary();
    if livewell.check_outcomes(p_ids, p_tokens, p_outcomes, p_details) then
        -- Several statements will write: all rows are locked first, in the one order everybody takes them in.
        perform from livewell.job_live as j where j.id = any (p_ids) order by j.id for update;
        v_again := livewell.try_jobs_again(p_ids, p_tokens, p_outcomes, p_details, p_now);
    end if;
    v_ended := livewell.end_jobs(p_ids, p_tokens, p_outcomes, p_details, p_now);
    if v_again.spent is not null or v_ended.spent is not null then
        perform livewell.settle_jobs(v_again.spent || v_ended.spent, p_now);
    end if;
    perform livewell.after_jobs_left(v_again.serial_keys || v_ended.serial_keys, v_again.kinds || v_ended.kinds);
    if cardinality(v_ended.ids) = cardinality(p_ids) then
        return query
        select i.id, case when i.outcome = 'dead' then 'failed' else coalesce(i.outcome, 'completed') end
        from unnest(p_ids, p_outcomes) as i (id, outcome);
        return;
    end if;
    perform livewell.refuse_repeated_jobs(p_ids);
    return query
    select i.id, coalesce(e.next_state, 'lost')
    from unnest(p_ids) as i (id)
    left join unnest(v_ended.ids || v_again.ids, v_ended.states || v_again.states) as e (id, next_state) on e.id = i.id;
end $$;
