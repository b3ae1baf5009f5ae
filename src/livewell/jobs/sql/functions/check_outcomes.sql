-- Refuses a finish that does not make sense as a whole; tells whether others than completed are in it.
-- for: internal
create or replace function livewell_private.check_outcomes(p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_unknown text[];
begin
    if cardinality(p_ids) <> cardinality(p_tokens) or cardinality(p_ids) <> cardinality(p_outcomes)
        or jsonb_array_length(p_details) <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'ids, tokens, outcomes and details must be of one length';
    end if;
    perform livewell_private.refuse_large_jobs(p_details, 'jobs.result_bytes');
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
    perform livewell_private.refuse_repeated_jobs(p_ids);
    return true;
end $$;
