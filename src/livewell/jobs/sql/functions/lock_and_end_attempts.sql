-- Ends attempts, or lets them be tried again, and answers with what became of each.
-- for: internal
create or replace function livewell_private.lock_and_end_attempts(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_mixed boolean, p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ended livewell_private.ended_jobs;
    v_again livewell_private.ended_jobs;
begin
    if not p_mixed then
        return livewell_private.end_jobs(p_ids, p_tokens, p_outcomes, p_details, p_now);
    end if;
    -- Several statements will write: all rows are locked first, in the one order everybody takes them in.
    perform from livewell_private.job_live as j where j.id = any (p_ids) order by j.id for update;
    v_again := livewell_private.try_jobs_again(p_ids, p_tokens, p_outcomes, p_details, p_now);
    v_ended := livewell_private.end_jobs(p_ids, p_tokens, p_outcomes, p_details, p_now);
    v_ended.ids := v_ended.ids || v_again.ids;
    v_ended.states := v_ended.states || v_again.states;
    v_ended.serial_keys := v_ended.serial_keys || v_again.serial_keys;
    v_ended.kinds := v_ended.kinds || v_again.kinds;
    v_ended.spent := v_ended.spent || v_again.spent;
    return v_ended;
end $$;
