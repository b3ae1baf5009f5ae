-- Records what was refused, once per type with how many and the last of them, where alerts find it.
-- for: internal
create or replace function livewell.warn_of_refusals(p_judged livewell.ended_fetch[], p_now timestamptz) returns void
language plpgsql security definer
set search_path = '' as $$
begin
    perform livewell.warn('fetching.refused', r.data_type, r.message, p_now, r.refused)
    from (
        select e.data_type, count(*)::integer as refused,
            (array_agg(format('%s: %s (%s)', e.key, coalesce(e.message, e.reason), e.reason) order by e.job_id desc))[1] as message
        from unnest(p_judged) as e where e.outcome = 'refused'
        group by e.data_type order by e.data_type
    ) as r;
end $$;
