-- Drops one day of finished jobs or attempts that is past its retention; those that are kept briefly have a task of their own.
-- for: service
create or replace function livewell.task_job_retention(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return livewell_private.drop_expired_partition(false, p_now);
end $$;
