-- Makes the rows that count what is used of quotas and limits, where there are none yet.
-- for: internal
create or replace function livewell_private.begin_to_count(
    p_providers livewell_private.provider[], p_endpoints livewell_private.endpoint[], p_keys livewell_private.api_key[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.quota_use (provider)
    select n.name from unnest(p_providers) as n
    order by n.name
    on conflict (provider) do nothing;
    insert into livewell_private.limit_use (name)
    select n.name from unnest(p_endpoints) as n
    union
    select n.provider || '@' || n.scope from unnest(p_keys) as n
    order by 1
    on conflict (name) do nothing;
end $$;
