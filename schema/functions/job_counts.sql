-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.job_counts(p_finished boolean DEFAULT false, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(queue_group text, kind text, state text, jobs bigint, oldest_due_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
end $function$;

grant execute on function livewell.job_counts(boolean,timestamp with time zone) to livewell_service;
