-- Records what was refused, failed or throttled by its provider, once per type with how many and the last of them, where alerts
-- find it. What waits for our own budget is nothing odd.
-- for: internal
create or replace function livewell_private.warn_of_failures(p_judged livewell_private.ended_fetch[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.warn('fetching.' || r.outcome, r.data_type, r.message, p_now, r.times)
    from (
        select e.outcome, e.data_type, count(*)::integer as times,
            (array_agg(concat(e.key, ': ', coalesce(e.message, e.reason), ' (' || e.reason || ')') order by e.job_id desc))[1] as message
        from unnest(p_judged) as e
        where e.outcome in ('failed', 'refused', 'throttled') and e.reason is distinct from 'no_permit'
        group by e.outcome, e.data_type order by e.outcome, e.data_type
    ) as r;
end $$;
