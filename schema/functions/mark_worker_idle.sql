-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.mark_worker_idle(p_worker text, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS double precision
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET synchronous_commit TO 'off'
AS $function$
begin
    perform livewell.require_primary();
    update livewell.worker as w set idle = true, last_seen = p_now where w.id = p_worker;
    return extract(epoch from least(
        (select j.due_at from livewell.job_live as j where j.waiting_for = 'due' order by j.due_at limit 1),
        (
            select min(greatest(u.next_allowed_at, a.next_allowed_at))
            from livewell.job_lane as l
            join livewell.limit_use as u on u.name = l.endpoint
            left join livewell.limit_use as a on a.name = split_part(l.endpoint, '/', 1)
            where greatest(u.next_allowed_at, a.next_allowed_at) > p_now
                and greatest(u.next_allowed_at, a.next_allowed_at) < p_now + interval '1 hour'
                and exists (
                    select from livewell.job_live as j where j.lane_id = l.id and j.state = 'pending' and j.waiting_for is null
                )
        )
    ) - p_now);
end $function$;

grant execute on function livewell.mark_worker_idle(text,timestamp with time zone) to livewell_service;
