-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.warn_of_failures(p_judged livewell.judged_fetch[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.warn('fetching.' || r.outcome, r.data_type, r.message, p_now, r.times)
    from (
        select v.outcome, (j.told).type as data_type, count(*)::integer as times,
            (array_agg(concat((j.told).key, ': ', coalesce(v.message, v.reason), ' (' || v.reason || ')') order by v.job desc))[1] as message
        from unnest(p_judged) as j
        cross join lateral (select (j.found).*) as v
        where v.outcome in ('failed', 'refused', 'throttled') and v.reason is distinct from 'no_permit'
        group by 1, 2 order by 1, 2
    ) as r;
end $function$;
