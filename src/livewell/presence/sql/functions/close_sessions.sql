-- Ends sessions with all they looked at; answers with how many there were.
-- for: service
create or replace function livewell.close_sessions(p_ids uuid[], p_now timestamptz default clock_timestamp()) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    perform livewell.require_primary();
    return livewell.drop_sessions(array(
        select s.id from livewell.session as s where s.id = any (p_ids) order by s.id for update
    ), p_now);
end $$;
