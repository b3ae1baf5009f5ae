-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_outcomes(p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_unknown text[];
begin
    if cardinality(p_ids) <> cardinality(p_tokens) or cardinality(p_ids) <> cardinality(p_outcomes)
        or jsonb_array_length(p_details) <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'ids, tokens, outcomes and details must be of one length';
    end if;
    perform livewell.refuse_large_jobs(p_details, 'jobs.result_bytes');
    -- What nearly every finish is; a job named twice shows in the number that ended.
    if p_outcomes is null or 'completed' = all (p_outcomes) then
        return false;
    end if;
    select array_agg(i.outcome) into v_unknown from unnest(p_outcomes) as i (outcome)
    where i.outcome is null or i.outcome not in ('completed', 'failed', 'dead', 'rescheduled', 'throttled', 'reset', 'cancelled');
    if v_unknown is not null then
        raise exception using errcode = 'LWJ03', message = format('unknown outcome: %s', v_unknown[1]),
            hint = 'one of completed, failed, dead, rescheduled, throttled, reset, cancelled';
    end if;
    perform livewell.refuse_repeated_jobs(p_ids);
    return true;
end $function$;
