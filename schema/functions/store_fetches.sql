-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.store_fetches(p_ended jsonb, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(job_id bigint, state text, outcome text, reason text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_ended livewell.ended_fetch[];
    v_judged livewell.ended_fetch[];
    v_busy livewell.ended_fetch[];
    v_verdicts livewell.fetch_verdict[];
    v_ids bigint[];
    v_states text[];
begin
    perform livewell.require_primary();
    v_ended := livewell.read_fetches(p_ended);
    v_judged := livewell.hold_free_fetches(v_ended, p_now);
    v_verdicts := livewell.store_by_type(v_judged, p_now);
    v_judged := livewell.apply_verdicts(v_judged, v_verdicts);
    if exists (select from unnest(v_verdicts) as v where v.outcome = 'busy') then
        select array_agg(e) filter (where e.outcome = 'busy'), array_agg(e) filter (where e.outcome <> 'busy') into v_busy, v_judged
        from unnest(v_judged) as e;
    end if;
    if v_judged is not null then
        perform livewell.keep_conditions(v_judged);
        perform livewell.learn_items(
            array_agg(e.item_id), array_agg(e.outcome), array_agg(e.hash), array_agg(e.bytes), p_now,
            array_agg(coalesce(e.message, e.reason))
        ), livewell.note_outcomes(
            array_agg(e.item_id), array_agg(e.job_id), array_agg(e.outcome), array_agg(coalesce(e.message, e.reason)), p_now
        )
        from unnest(v_judged) as e where e.item_id is not null and e.outcome <> 'throttled';
        select array_agg(f.job_id), array_agg(f.state) into v_ids, v_states from livewell.finish_fetches(v_judged, p_now) as f;
        -- Whoever it was for may have left while it was fetched.
        perform livewell.let_refreshes_go(array_agg(e.item_id), p_now)
        from unnest(v_judged) as e where e.outcome in ('failed', 'refused', 'throttled') having count(e.item_id) > 0;
        perform livewell.warn_of_failures(v_judged, p_now);
        perform livewell.warn_of_answers(p_ended, p_now);
        perform livewell.tell_changes(v_judged);
    end if;
    return query
    select e.job_id, coalesce(s.state, b.outcome, 'lost'), coalesce(j.outcome, e.outcome), coalesce(j.reason, b.reason)
    from unnest(v_ended) as e
    left join unnest(v_judged) as j on j.job_id = e.job_id
    left join unnest(v_busy) as b on b.job_id = e.job_id
    left join unnest(v_ids, v_states) as s (job_id, state) on s.job_id = e.job_id;
end $function$;

grant execute on function livewell.store_fetches(jsonb,timestamp with time zone) to livewell_service;
