-- Runs a user's task function, called by a role that has nothing of Livewell's: what its function may do is its owner's right. What
-- would be checked at commit is checked here, where a failure is the task's and no more rights than these are at hand. $1 now.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.run_foreign_task(p_query text, p_now timestamptz) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_result jsonb;
begin
    execute p_query into v_result using p_now;
    set constraints all immediate;
    return v_result;
end $$;
