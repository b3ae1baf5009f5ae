-- Stores rows in a user's table with the rights of a role that has nothing of Livewell's, and answers with the jobs that were held
-- back or brought the same, and why. What would be checked at commit is checked here, where a failure is these rows' and no more rights are at hand.
-- $1 now, $2 jobs, $3 keys, $4 rows, $5 source times.
-- for: internal
-- runs as: livewell_writer
create or replace function livewell_private.store_foreign_rows(
    p_query text, p_now timestamptz, p_jobs bigint[], p_keys text[], p_rows jsonb[], p_source_times timestamptz[],
    out jobs bigint[], out reasons text[]
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_mergejoin = off set jit = off as $$
begin
    execute p_query into jobs, reasons using p_now, p_jobs, p_keys, p_rows, p_source_times;
    set constraints all immediate;
end $$;
