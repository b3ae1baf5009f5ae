-- Ends sessions with all they looked at; answers with how many there were. Where a gateway is named, only those that are still its own:
-- one that was resumed elsewhere stays. One that somebody else has in an open transaction is ended by the sweeper when it is free; one that
-- is opened anew at this moment stays.
-- for: service
create or replace function livewell.close_sessions(
    p_ids uuid[], p_now timestamptz default clock_timestamp(), p_gateway text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_sessions record;
begin
    perform livewell_private.require_primary();
    select l.locked, l.busy into v_sessions from livewell_private.lock_sessions(p_ids, p_now) as l;
    insert into livewell_private.session_leaving (session_id, gateway) select b.id, p_gateway from unnest(v_sessions.busy) as b (id);
    return livewell_private.drop_sessions(array(
        select s.id from livewell_private.session as s
        where s.id = any (v_sessions.locked) and (p_gateway is null or s.gateway = p_gateway)
    ), p_now);
end $$;
