-- Asks to be notified of new jobs; the worker must claim once more after this, for what came in between.
-- Answers in how many seconds the next job that is due later becomes ready, or the next endpoint opens that jobs wait for, so
-- that nobody need ask before.
-- for: service
create or replace function livewell.mark_worker_idle(p_worker text, p_now timestamptz default clock_timestamp())
returns double precision
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan set synchronous_commit = off as $$
begin
    perform livewell_private.require_primary();
    update livewell_private.worker as w set idle = true, last_seen = p_now where w.id = p_worker;
    return extract(epoch from least(
        (select j.due_at from livewell_private.job_live as j where j.waiting_for = 'due' order by j.due_at limit 1),
        (
            select min(greatest(u.next_allowed_at, a.next_allowed_at))
            from livewell_private.job_lane as l
            join livewell_private.limit_use as u on u.name = l.endpoint
            left join livewell_private.limit_use as a on a.name = split_part(l.endpoint, '/', 1)
            where greatest(u.next_allowed_at, a.next_allowed_at) > p_now
                and greatest(u.next_allowed_at, a.next_allowed_at) < p_now + interval '1 hour'
                and exists (
                    select from livewell_private.job_live as j where j.lane_id = l.id and j.state = 'pending' and j.waiting_for is null
                )
        )
    ) - p_now);
end $$;
