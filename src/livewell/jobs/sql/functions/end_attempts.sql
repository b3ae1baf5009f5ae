-- Ends attempts, or lets them be tried again, and answers with what became of each. Nobody's open transaction is waited for longer than a
-- moment: then those that are free end, and the others are busy.
-- for: internal
create or replace function livewell_private.end_attempts(
    p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_mixed boolean, p_now timestamptz
) returns livewell_private.ended_jobs
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
begin
    if not p_mixed then
        return livewell_private.end_jobs(p_ids, p_tokens, p_outcomes, p_details, p_now);
    end if;
    return livewell_private.lock_and_end_attempts(p_ids, p_tokens, p_outcomes, p_details, p_mixed, p_now);
exception when lock_not_available then
    return livewell_private.end_free_attempts(p_ids, p_tokens, p_outcomes, p_details, p_mixed, p_now);
end $$;
