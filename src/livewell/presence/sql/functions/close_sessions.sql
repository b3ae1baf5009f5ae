-- Ends sessions with all they looked at; answers with how many there were. One that somebody else has in an open transaction is ended
-- by the sweeper when it is free.
-- for: service
create or replace function livewell.close_sessions(p_ids uuid[], p_now timestamptz default clock_timestamp()) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_busy uuid[];
begin
    perform livewell_private.require_primary();
    v_busy := livewell_private.lock_sessions(p_ids, p_now);
    insert into livewell_private.session_leaving (session_id) select b.id from unnest(v_busy) as b (id);
    return livewell_private.drop_sessions(array(select a.id from unnest(p_ids) as a (id) where a.id <> all (v_busy)), p_now);
end $$;
