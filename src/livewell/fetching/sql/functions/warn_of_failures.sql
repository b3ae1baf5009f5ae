-- Records what was refused, failed or throttled by its provider, once per type with how many and the last of them, where alerts
-- find it. What waits for our own budget is nothing odd.
-- for: internal
create or replace function livewell_private.warn_of_failures(p_judged livewell_private.judged_fetch[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.warn('fetching.' || r.outcome, r.data_type, r.message, p_now, r.times)
    from (
        select v.outcome, (j.told).type as data_type, count(*)::integer as times,
            (array_agg(concat((j.told).key, ': ', coalesce(v.message, v.reason), ' (' || v.reason || ')') order by v.job desc))[1] as message
        from unnest(p_judged) as j
        cross join lateral (select (j.found).*) as v
        where v.outcome in ('failed', 'refused', 'throttled') and v.reason is distinct from 'no_permit'
        group by 1, 2 order by 1, 2
    ) as r;
end $$;
