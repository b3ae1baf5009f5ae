-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_fetches(p_ended livewell.ended_fetch[], p_reason text, p_message text)
 RETURNS livewell.fetch_verdict[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select array_agg(row (e.job, 'refused', p_reason, p_message)::livewell.fetch_verdict) from unnest(p_ended) as e
$function$;
