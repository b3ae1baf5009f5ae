-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.put_providers(p_providers livewell.provider[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    insert into livewell.provider as t
    select n.* from unnest(p_providers) as n
    order by n.name
    on conflict (name) do update set
        state = excluded.state, description = excluded.description, base_url = excluded.base_url,
        quota_bytes = excluded.quota_bytes, quota_window = excluded.quota_window, quota_use = excluded.quota_use,
        pace = excluded.pace, pace_bucket = excluded.pace_bucket, policy = excluded.policy,
        hosts = excluded.hosts, key_in = excluded.key_in, allow_private = excluded.allow_private, updated_at = p_now
    where t.* is distinct from excluded.*;
    insert into livewell.quota_use (provider)
    select n.name from unnest(p_providers) as n
    order by n.name
    on conflict (provider) do nothing;
end $function$;
