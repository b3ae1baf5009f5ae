-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_outcomes(p_ids bigint[], p_tokens uuid[], p_outcomes text[], p_details jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_unknown text[];
    v_again boolean;
    v_distinct bigint;
begin
    if cardinality(p_ids) <> cardinality(p_tokens) or cardinality(p_ids) <> cardinality(p_outcomes)
        or jsonb_array_length(p_details) <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'ids, tokens, outcomes and details must be of one length';
    end if;
    select
        array_agg(i.outcome) filter (
            where i.outcome is null or i.outcome not in ('completed', 'failed', 'dead', 'rescheduled', 'reset', 'cancelled')
        ),
        bool_or(i.outcome in ('failed', 'rescheduled', 'reset')), count(distinct i.id)
    into v_unknown, v_again, v_distinct
    from unnest(p_ids, p_outcomes) as i (id, outcome);
    if v_unknown is not null then
        raise exception using errcode = 'LWJ03', message = format('unknown outcome: %s', v_unknown[1]),
            hint = 'one of completed, failed, dead, rescheduled, reset, cancelled';
    end if;
    if v_distinct <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'a job is named twice in one finish';
    end if;
    return v_again;
end $function$;
