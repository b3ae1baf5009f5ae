-- The keys that calls may use, of each scope the one that was used least, with what its scope has left; or a key by its name.
-- for: internal
create or replace function livewell_private.keys_of(p_limits livewell_private.limit_headroom[], p_api_key text default null)
returns table (provider text, api_key text, key_limit text, requests bigint, tokens bigint, granted bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select distinct on (l.name) k.provider, k.name, l.name, l.requests, l.tokens, k.granted
    from unnest(p_limits) as l
    join livewell_private.api_key as k on k.provider = l.provider and k.provider || '@' || k.scope = l.name and k.enabled
    where l.kind = 'keys' and (p_api_key is null or k.name = p_api_key)
    order by l.name, k.granted, k.name;
end $$;
