-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.warn_of_refusals(p_judged livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    perform livewell.warn('fetching.refused', r.data_type, r.message, p_now, r.refused)
    from (
        select e.data_type, count(*)::integer as refused,
            (array_agg(format('%s: %s (%s)', e.key, coalesce(e.message, e.reason), e.reason) order by e.job_id desc))[1] as message
        from unnest(p_judged) as e where e.outcome = 'refused'
        group by e.data_type order by e.data_type
    ) as r;
end $function$;
