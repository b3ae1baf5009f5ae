-- How many jobs of each kind are in each state as people see it, and since when the oldest ready one is due.
-- for: service
create or replace function livewell.job_counts(
    p_finished boolean default false, p_now timestamptz default clock_timestamp()
) returns table (queue_group text, kind text, state text, jobs bigint, oldest_due_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
    return query
    select k.queue_group, c.kind, c.state, sum(c.jobs)::bigint, min(c.oldest_due_at)
    from (
        -- The state as people see it is asked once for each sort of job, not for each job.
        select l.kind, livewell.shown_state(l.state, l.attempted::integer, l.any_due_at, p_now) as state, l.jobs,
            case when l.state = 'pending' and not l.later then l.first_due_at end as oldest_due_at
        from (
            select j.kind, j.state, j.attempt > 0 as attempted, j.due_at > p_now as later, count(*) as jobs,
                min(j.due_at) as first_due_at, max(j.due_at) as any_due_at
            from livewell_private.job_live as j group by 1, 2, 3, 4
        ) as l
        union all
        select j.kind, case when j.acknowledged_at is null then 'failed' else 'acknowledged' end, count(*), null
        from livewell_private.job_failed as j group by 1, 2
        union all
        select j.kind, j.state, count(*), null from livewell_private.job_ended as j where p_finished group by 1, 2
    ) as c
    left join livewell_private.job_kind as k on k.kind = c.kind
    group by k.queue_group, c.kind, c.state
    order by k.queue_group, c.kind, c.state;
end $$;
