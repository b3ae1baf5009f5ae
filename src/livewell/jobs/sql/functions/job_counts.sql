-- How many jobs of each kind are in each state as people see it, and since when the oldest ready one is due.
-- for: service
create or replace function livewell.job_counts(
    p_finished boolean default false, p_now timestamptz default clock_timestamp()
) returns table (queue_group text, kind text, state text, jobs bigint, oldest_due_at timestamptz)
language plpgsql stable security definer
set search_path = '' as $$
#variable_conflict use_column
begin
    return query
    select k.queue_group, c.kind, c.state, c.jobs, c.oldest_due_at
    from (
        select j.kind, livewell.shown_state(j.state, j.attempt, j.due_at, p_now) as state, count(*) as jobs,
            min(j.due_at) filter (where j.state = 'pending' and j.due_at <= p_now) as oldest_due_at
        from livewell.job_live as j group by 1, 2
        union all
        select j.kind, case when j.acknowledged_at is null then 'failed' else 'acknowledged' end, count(*), null
        from livewell.job_failed as j group by 1, 2
        union all
        select j.kind, j.state, count(*), null from livewell.job_done as j where p_finished group by 1, 2
    ) as c
    left join livewell.job_kind as k on k.kind = c.kind
    order by k.queue_group, c.kind, c.state;
end $$;
