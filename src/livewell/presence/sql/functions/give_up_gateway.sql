-- Takes sessions of a gateway that was not renewed in time, as many as asked, to be dropped by the caller. The gateway is
-- marked first, so that it cannot be renewed while some of its sessions are gone. Sessions and gateways that somebody else has
-- at this moment are left for the next time.
-- for: internal
create or replace function livewell_private.give_up_gateway(p_gateway text, p_most integer, p_now timestamptz) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    perform from livewell_private.gateway as g
    where g.name = p_gateway and g.last_seen + g.gone_after <= p_now for no key update skip locked;
    if not found then
        return array[]::uuid[];
    end if;
    update livewell_private.gateway as g set last_seen = '-infinity' where g.name = p_gateway and g.last_seen > '-infinity';
    return array(select s.id from livewell_private.session as s where s.gateway = p_gateway limit p_most for update skip locked);
end $$;
