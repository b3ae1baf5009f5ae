-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.end_attempts(p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb, p_mixed boolean, p_now timestamp with time zone)
 RETURNS livewell.ended_jobs
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
AS $function$
begin
    if not p_mixed then
        return livewell.end_jobs(p_ids, p_tokens, p_outcomes, p_details, p_now);
    end if;
    return livewell.lock_and_end_attempts(p_ids, p_tokens, p_outcomes, p_details, p_mixed, p_now);
exception when lock_not_available then
    return livewell.end_free_attempts(p_ids, p_tokens, p_outcomes, p_details, p_mixed, p_now);
end $function$;
