-- Undoes sessions of a gateway that was not renewed since a time, as many as asked, and the gateway itself with the last of
-- them. It is marked first, so that it cannot be renewed while some of its sessions are gone. Sessions and gateways that
-- somebody else has at this moment are left for the next time.
-- for: internal
create or replace function livewell.sweep_gateway(p_gateway text, p_since timestamptz, p_most integer, p_now timestamptz) returns integer
language plpgsql security definer
set search_path = '' set enable_seqscan = off set jit = off as $$
declare
    v_swept integer;
begin
    update livewell.gateway as g set last_seen = '-infinity' where g.name = p_gateway and g.last_seen <= p_since;
    if not found then
        return 0;
    end if;
    v_swept := livewell.drop_sessions(array(
        select s.id from livewell.session as s where s.gateway = p_gateway limit p_most for update skip locked
    ), p_now);
    -- Who is opening a session there holds the gateway's row.
    perform from livewell.gateway as g where g.name = p_gateway for update skip locked;
    if found then
        delete from livewell.gateway as g
        where g.name = p_gateway and not exists (select from livewell.session as s where s.gateway = p_gateway);
    end if;
    return v_swept;
end $$;
