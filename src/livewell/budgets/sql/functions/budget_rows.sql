-- Providers, endpoints and keys as what a person may set of them, to be compared and shown.
-- for: internal
create or replace function livewell_private.budget_rows(
    p_providers livewell_private.provider[], p_endpoints livewell_private.endpoint[], p_keys livewell_private.api_key[]
) returns table (rank integer, thing text, name text, content jsonb)
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select 1, 'provider', n.name, to_jsonb(n) - '{name,created_at,updated_at}'::text[] from unnest(p_providers) as n
    union all
    select 2, 'endpoint', n.name, to_jsonb(n) - '{name,provider,created_at,updated_at}'::text[] from unnest(p_endpoints) as n
    union all
    select 3, 'key', n.provider || '@' || n.name, to_jsonb(n) - '{provider,name,granted,created_at,updated_at}'::text[]
    from unnest(p_keys) as n
$$;
