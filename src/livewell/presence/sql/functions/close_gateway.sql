-- Ends a gateway at once, and up to a thousand of its sessions; answers with how many are left. The caller asks again until
-- there are none, or leaves them to the sweeper: they are gone either way.
-- for: service
create or replace function livewell.close_gateway(p_gateway text, p_now timestamptz default clock_timestamp()) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    update livewell_private.gateway as g set last_seen = '-infinity' where g.name = p_gateway;
    perform livewell_private.drop_sessions(livewell_private.give_up_gateway(p_gateway, 1000, p_now), p_now);
    perform livewell_private.remove_gateways(array[p_gateway]);
    return (select count(*) from livewell_private.session as s where s.gateway = p_gateway);
end $$;
