-- How many rows fell into the default partitions because their time had none: there should be none, and it is an alert.
-- for: service
create or replace function livewell.stray_jobs() returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    return (select count(*) from livewell_private.job_done_default) + (select count(*) from livewell_private.job_failed_default)
        + (select count(*) from livewell_private.job_attempt_default) + (select count(*) from livewell_private.job_brief_default);
end $$;
