-- Makes the partitions of the days ahead, and counts the rows that had to go into a default one for lack of theirs.
-- for: service
create or replace function livewell.task_job_partitions(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_made jsonb;
begin
    perform livewell_private.require_primary();
    select jsonb_agg(p.name) into v_made from livewell.make_job_partitions(7, p_now) as p (name);
    return jsonb_build_object('made', coalesce(v_made, '[]'), 'stray', livewell.stray_jobs());
end $$;
