-- Tells the items of refreshes that failed for good that they have ended.
-- for: internal
create or replace function livewell_private.failed_refreshes_ended() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.refresh_jobs_ended(array_agg(f.id), max(f.finished_at))
    from failed as f where f.kind like 'refresh.%' having count(*) > 0;
    return null;
end $$;
