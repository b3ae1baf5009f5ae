-- Asks to be notified of new jobs; the worker must claim once more after this, for what came in between.
-- Answers in how many seconds the next job that is due later becomes ready, so that nobody need ask before.
-- for: service
create or replace function livewell.mark_worker_idle(p_worker text, p_now timestamptz default clock_timestamp())
returns double precision
language plpgsql security definer
set search_path = '' set enable_seqscan = off set plan_cache_mode = force_generic_plan set synchronous_commit = off as $$
begin
    perform livewell.require_primary();
    update livewell.worker as w set idle = true, last_seen = p_now where w.id = p_worker;
    return (
        select extract(epoch from j.due_at - p_now) from livewell.job_live as j where j.held = 'due' order by j.due_at limit 1
    );
end $$;
