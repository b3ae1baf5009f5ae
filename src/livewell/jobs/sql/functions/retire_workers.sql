-- Forgets workers: the named one that says goodbye, or all that were not seen for a while.
-- for: service
create or replace function livewell.retire_workers(
    p_worker text default null, p_unseen_for interval default interval '5 minutes',
    p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return query
    delete from livewell_private.worker as w
    where w.id = p_worker or (p_worker is null and w.last_seen < p_now - p_unseen_for)
    returning w.id;
end $$;
