-- Ends sessions with all they looked at; answers with how many there were. One that somebody else has in an open transaction is ended
-- by the sweeper when it is free; one that is opened anew at this moment stays.
-- for: service
create or replace function livewell.close_sessions(p_ids uuid[], p_now timestamptz default clock_timestamp()) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_sessions record;
begin
    perform livewell_private.require_primary();
    select l.locked, l.busy into v_sessions from livewell_private.lock_sessions(p_ids, p_now) as l;
    insert into livewell_private.session_leaving (session_id) select b.id from unnest(v_sessions.busy) as b (id);
    return livewell_private.drop_sessions(v_sessions.locked, p_now);
end $$;
