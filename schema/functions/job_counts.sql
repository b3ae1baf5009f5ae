-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.job_counts(p_finished boolean DEFAULT false, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(queue_group text, kind text, state text, jobs bigint, oldest_due_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
            from livewell.job_live as j group by 1, 2, 3, 4
        ) as l
        union all
        select j.kind, case when j.acknowledged_at is null then 'failed' else 'acknowledged' end, count(*), null
        from livewell.job_failed as j group by 1, 2
        union all
        select j.kind, j.state, count(*), null from livewell.job_ended as j where p_finished group by 1, 2
    ) as c
    left join livewell.job_kind as k on k.kind = c.kind
    group by k.queue_group, c.kind, c.state
    order by k.queue_group, c.kind, c.state;
end $function$;

grant execute on function livewell.job_counts(boolean,timestamp with time zone) to livewell_service;
