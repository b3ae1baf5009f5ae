-- Ends a gateway at once, and up to a thousand of its sessions; answers with how many are left. The caller asks again until
-- there are none, or leaves them to the sweeper: they are gone either way.
-- for: service
create or replace function livewell.close_gateway(p_gateway text, p_now timestamptz default clock_timestamp()) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.require_primary();
    update livewell.gateway as g set last_seen = '-infinity' where g.name = p_gateway;
    perform livewell.drop_sessions(livewell.give_up_gateway(p_gateway, '-infinity', 1000), p_now);
    perform livewell.remove_gateways(array[p_gateway]);
    return (select count(*) from livewell.session as s where s.gateway = p_gateway);
end $$;
