-- Drops one partition of completed jobs that are kept briefly, when it is past its retention.
-- for: service
create or replace function livewell.task_brief_retention(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return livewell_private.drop_expired_partition(true, p_now);
end $$;
