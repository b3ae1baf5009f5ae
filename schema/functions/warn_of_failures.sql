-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.warn_of_failures(p_judged livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.warn('fetching.' || r.outcome, r.data_type, r.message, p_now, r.times)
    from (
        select e.outcome, e.data_type, count(*)::integer as times,
            (array_agg(concat(e.key, ': ', coalesce(e.message, e.reason), ' (' || e.reason || ')') order by e.job_id desc))[1] as message
        from unnest(p_judged) as e
        where e.outcome in ('failed', 'refused', 'throttled') and e.reason is distinct from 'no_permit'
        group by e.outcome, e.data_type order by e.outcome, e.data_type
    ) as r;
end $function$;
