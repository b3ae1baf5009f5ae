-- Writes where keys are found and what they allow, with the row that counts what is used of each scope.
-- for: internal
create or replace function livewell_private.put_api_keys(p_keys livewell_private.api_key[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.api_key as t
    select n.* from unnest(p_keys) as n
    order by n.provider, n.name
    on conflict (provider, name) do update set
        scope = excluded.scope, source = excluded.source, enabled = excluded.enabled,
        requests_per_minute = excluded.requests_per_minute, requests_per_hour = excluded.requests_per_hour,
        tokens_per_minute = excluded.tokens_per_minute, tokens_per_hour = excluded.tokens_per_hour,
        concurrent = excluded.concurrent, updated_at = p_now
    where t.* is distinct from excluded.*;
    insert into livewell_private.limit_use (name)
    select distinct n.provider || '@' || n.scope from unnest(p_keys) as n
    order by 1
    on conflict (name) do nothing;
end $$;
