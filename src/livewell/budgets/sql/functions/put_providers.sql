-- Writes providers as they shall be, with the row that counts their quota.
-- for: internal
create or replace function livewell_private.put_providers(p_providers livewell_private.provider[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.provider as t
    select n.* from unnest(p_providers) as n
    order by n.name
    on conflict (name) do update set
        state = excluded.state, description = excluded.description, base_url = excluded.base_url,
        quota_bytes = excluded.quota_bytes, quota_window = excluded.quota_window, quota_use = excluded.quota_use,
        pace = excluded.pace, pace_bucket = excluded.pace_bucket, policy = excluded.policy,
        hosts = excluded.hosts, key_in = excluded.key_in, allow_private = excluded.allow_private, updated_at = p_now
    where t.* is distinct from excluded.*;
    insert into livewell_private.quota_use (provider)
    select n.name from unnest(p_providers) as n
    order by n.name
    on conflict (provider) do nothing;
end $$;
