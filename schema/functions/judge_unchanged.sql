-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.judge_unchanged(p_ended livewell.ended_fetch[], p_touched text[])
 RETURNS livewell.fetch_verdict[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select array_agg(case
        when t.key is not null then row (e.job, 'unchanged', e.reason, e.message)::livewell.fetch_verdict
        else row (e.job, 'refused', 'nothing_stored', 'unchanged, says the provider, but nothing of it is stored')::livewell.fetch_verdict
    end)
    from unnest(p_ended) as e left join unnest(p_touched) as t (key) on t.key = e.key
    where e.outcome = 'unchanged'
$function$;
