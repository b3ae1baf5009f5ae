-- What keeps a type from being fetched as it declares: its provider has no address, or has keys and does not say how they travel;
-- and what looks like a secret in it, written down before such were refused.
-- for: internal
create or replace function livewell_private.findings_on_fetch(p_type livewell_private.data_type)
returns table (severity text, problem text, message text, fix text)
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select 'error', 'no_base_url', format('provider %s has no base_url', p.name),
        format('write [provider.%s] base_url = "https://…"', p.name)
    from livewell.endpoints as e
    join livewell.providers as p on p.name = e.provider
    where e.name = (p_type).endpoint and (p_type).fetch_call is not null and p.base_url is null
    union all
    select 'warning', 'no_key_in', format('provider %s has keys and does not say how they travel', p.name),
        format('write [provider.%s] key_in = "header:NAME" (or "query:NAME", or "bearer")', p.name)
    from livewell.endpoints as e
    join livewell.providers as p on p.name = e.provider
    where e.name = (p_type).endpoint and (p_type).fetch_call is not null and p.key_in is null
        and exists (select from livewell_private.api_key as k where k.provider = p.name and k.enabled)
    union all
    select 'warning', 'secret_declared', format('%s looks like a secret, and is kept and shown as it is written', s.field),
        format('take it out, and write key_env and key_in = "%s" below [provider.%s]', s.key_in, split_part((p_type).endpoint, '/', 1))
    from livewell_private.secrets_in_fetch((p_type).fetch_call) as s
$$;
