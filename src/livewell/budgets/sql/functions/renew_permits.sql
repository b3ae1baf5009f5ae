-- Renews the leases of blocks that their holder still has; answers with those.
-- for: service
create or replace function livewell.renew_permits(
    p_holder text, p_blocks uuid[], p_now timestamptz default clock_timestamp()
) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    return query
    update livewell_private.permit_block as b set lease_until = p_now + livewell.setting_interval('budgets.permit_lease')
    where b.id = any (p_blocks) and b.holder = p_holder and b.lease_until > p_now
    returning b.id;
end $$;
