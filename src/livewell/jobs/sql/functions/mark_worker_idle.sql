-- Asks to be notified of new jobs; the worker must claim once more after this, for what came in between.
-- for: service
create or replace function livewell.mark_worker_idle(p_worker text, p_now timestamptz default clock_timestamp())
returns void
language plpgsql security definer
set search_path = '' set synchronous_commit = off as $$
begin
    perform livewell.require_primary();
    update livewell.worker as w set idle = true, last_seen = p_now where w.id = p_worker;
end $$;
