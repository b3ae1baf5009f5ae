-- How a provider's refreshes are chosen: as set, else by value where bytes are paid for, by viewers where they are not.
-- for: internal
create or replace function livewell_private.policy_of(p_provider livewell_private.provider) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return coalesce(p_provider.policy, case when p_provider.quota_bytes is null then 'viewers' else 'value' end);
end $$;
