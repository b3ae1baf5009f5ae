-- Keeps all sessions of a gateway alive: one row, however many they are. False: the gateway is gone with all its sessions,
-- whether or not the sweeper has come to them, and opens them again under a new name.
-- for: service
create or replace function livewell.renew_gateway(p_gateway text, p_now timestamptz default clock_timestamp()) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    update livewell_private.gateway as g
    set last_seen = greatest(g.last_seen, p_now), gone_after = livewell_private.gateway_gone_after(p_gateway)
    where g.name = p_gateway and g.last_seen + g.gone_after > p_now;
    return found;
end $$;
