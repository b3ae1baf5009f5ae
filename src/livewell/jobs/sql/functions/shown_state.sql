-- The state as people see it: pending is shown as deferred while due later, and as retrying after a first attempt.
-- for: service
create or replace function livewell.shown_state(p_state text, p_attempt integer, p_due_at timestamptz, p_now timestamptz)
returns text
language sql immutable security definer
set search_path = pg_catalog, pg_temp as $$
    select case
        when p_state <> 'pending' then p_state
        when p_attempt > 0 then 'retrying'
        when p_due_at > p_now then 'deferred'
        else 'pending'
    end
$$;
