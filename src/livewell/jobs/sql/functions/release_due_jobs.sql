-- Puts jobs whose time has come into the ready order; until then they are out of it, so that they cost a claim nothing.
-- for: internal
create or replace function livewell.release_due_jobs(p_now timestamptz)
returns integer
language plpgsql security definer
set search_path = '' as $$
declare
    v_released integer;
begin
    update livewell.job_live as j set held = null
    where j.id = any (array(
        select d.id from livewell.job_live as d
        where d.held = 'due' and d.due_at <= p_now
        order by d.due_at
        limit 1000
        for update skip locked
    ));
    get diagnostics v_released = row_count;
    return v_released;
end $$;
